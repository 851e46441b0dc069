import type { Attempt } from '../api/client';
import type { IconName } from '../ui/icon';
import type { Tone } from '../ui/toast';

interface State {
  label: string;
  tone: Tone;
  icon: IconName;
}

/** The state of an attempt as a word, a colour and an icon. */
export function attemptState({ state, completion }: Attempt): State {
  switch (state) {
    case 'queued':
      return { label: 'Queued', tone: 'grey', icon: 'clock' };
    case 'refused':
      return { label: 'Refused', tone: 'red', icon: 'blocked' };
    case 'admitted':
    case 'prepared':
    case 'dispatched':
      return { label: 'Starting', tone: 'blue', icon: 'spinner' };
    case 'running':
      return { label: 'Running', tone: 'blue', icon: 'spinner' };
    case 'ended':
      break;
  }
  return completion ? completionState(completion.status) : { label: 'Ended', tone: 'grey', icon: 'circle' };
}

type Result = NonNullable<Attempt['completion']>['status'];

/** What became of an attempt that has ended, as a word, a colour and an icon. */
export function completionState(result: Result): State {
  switch (result) {
    case 'success':
      return { label: 'Success', tone: 'green', icon: 'check' };
    case 'partial':
      return { label: 'Partial', tone: 'amber', icon: 'alert' };
    case 'blocked':
      return { label: 'Blocked', tone: 'amber', icon: 'blocked' };
    case 'interrupted':
      return { label: 'Interrupted', tone: 'red', icon: 'stop' };
    case 'failed':
      return { label: 'Failed', tone: 'red', icon: 'alert' };
  }
}

export const isLive = ({ state }: Attempt): boolean => state !== 'ended' && state !== 'refused';

import type { WatchdogAction, WatchdogDetector, WatchdogFinding } from '../../contracts/runs/watchdog';
import { compact } from '../../platform/json/compact';
import { digestOf } from '../../platform/json/digest';
import { clipText } from '../events/clip';
import { actionFor } from './settings';
import type { Sighting } from './watch';

/** Longest path that a finding names, in bytes. */
const pathBytes = 500;

export interface WatchdogRecords {
  finding: WatchdogFinding;
  action: WatchdogAction;
}

interface Watched {
  taskId: string;
  attemptId: string;
}

/** The records of a sighting: the same for the same sighting, in every process. */
export function recordsOf({ taskId, attemptId }: Watched, sighting: Sighting): WatchdogRecords {
  const { detector, confidence, turnId, receivedAt: createdAt, suppressed } = sighting;
  const id = findingIdOf(attemptId, sighting);
  const recommendedAction = actionFor[confidence];
  const path = sighting.path === undefined ? undefined : clipText(sighting.path, pathBytes);
  const of = { taskId, attemptId, turnId };
  return {
    finding: {
      schemaVersion: 'progress-watchdog-finding/v1',
      id,
      ...of,
      detector,
      confidence,
      summary: summaries[detector]({ ...sighting, ...compact({ path }) }),
      evidence: {
        observed: sighting.observed,
        threshold: sighting.threshold,
        unit: sighting.unit,
        fromSequence: sighting.fromSequence,
        toSequence: sighting.sequence,
        fingerprint: sighting.fingerprint,
        ...(sighting.cycleLength === undefined ? {} : { cycleLength: sighting.cycleLength }),
        ...compact({ path }),
        ...(sighting.elapsedMs === undefined ? {} : { elapsedMs: sighting.elapsedMs }),
        ...(sighting.tokens === undefined ? {} : { tokens: sighting.tokens }),
        ...(sighting.costUsd === undefined ? {} : { costUsd: sighting.costUsd }),
      },
      recommendedAction,
      createdAt,
    },
    action: {
      schemaVersion: 'progress-watchdog-action/v1',
      id: id.replace(/^watchdog_/, 'watchdogaction_'),
      findingId: id,
      ...of,
      action: recommendedAction,
      source: 'automated',
      state: suppressed === undefined ? 'requested' : 'suppressed',
      ...(suppressed === undefined ? {} : { reason: suppressed }),
      createdAt,
      updatedAt: createdAt,
    },
  };
}

/** The message to an agent that has to check before it continues. */
export const observationRequest = ({ summary }: WatchdogFinding): string =>
  `${summary} Before you go on: look at the results you have and at the state of the worktree, say what you find, and ` +
  'then try something else. If nothing else is left to try, report a blocker.';

function findingIdOf(attemptId: string, { detector, confidence, fingerprint, sinceSequence }: Sighting): string {
  const hex = digestOf([attemptId, sinceSequence, detector, fingerprint, confidence]).slice('sha256:'.length);
  return `watchdog_${hex.slice(0, 32).replace(/(.{8})(?=.)/g, '$1-')}`;
}

type Summary = (sighting: Sighting) => string;

const summaries: Readonly<Record<WatchdogDetector, Summary>> = {
  'identical-repetition': ({ observed }) => `The agent repeated the same action ${observed} times in a row.`,
  'multi-step-cycle': ({ observed, cycleLength }) =>
    `The agent went through the same ${cycleLength} steps ${observed} times.`,
  'failed-file-edit': ({ observed, path }) => `${observed} edits of ${path} failed, and none worked.`,
  'no-durable-progress': ({ observed, unit, elapsedMs = 0 }) => {
    const seconds = Math.round(elapsedMs / 1_000);
    if (unit === 'tokens') {
      return `Nothing durable came of the last ${observed} tokens.`;
    }
    if (unit === 'usd') {
      return `Nothing durable came of the last ${observed.toFixed(2)} USD.`;
    }
    return `Nothing durable came of the last ${observed} events in ${seconds} seconds.`;
  },
};

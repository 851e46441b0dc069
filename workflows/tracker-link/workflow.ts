import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  proxyActivities,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow';
import type { TrackerLinkActivities } from '../../activities/trackers/activities';
import type { Refusal } from '../../contracts/refusal';
import { failedRefusal, waitOf } from './failed';
import type { TrackerLinkInput, TrackerLinkOutcome } from './messages';

type Calls = 'createWorkItem' | 'importWorkItem' | 'syncWorkItemComments';

/** Work in the stores and the task file: retried until they respond. */
const records = proxyActivities<Omit<TrackerLinkActivities, Calls>>({
  startToCloseTimeout: '20 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  summary: 'record the work item',
});

const usual = {
  startToCloseTimeout: '2 minutes',
  summary: 'call the tracker',
} as const;
/** A creation whose response was lost is not repeated before the tracker can find what it made. */
const creatingWithin = ({ heartbeatTimeoutMs }: TrackerLinkInput) =>
  proxyActivities<Pick<TrackerLinkActivities, 'createWorkItem'>>({
    ...usual,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { maximumAttempts: 1 },
  });
const callingWithin = ({ heartbeatTimeoutMs, retryMs }: TrackerLinkInput) =>
  proxyActivities<Pick<TrackerLinkActivities, 'importWorkItem' | 'syncWorkItemComments'>>({
    ...usual,
    startToCloseTimeout: '30 minutes',
    scheduleToCloseTimeout: '2 hours',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { initialInterval: retryMs, maximumInterval: '1 minute', maximumAttempts: 10 },
  });

/** How often a creation is tried, and the longest pause between two tries without a stated wait, in milliseconds. */
const maxTries = 10;
const maxPauseMs = 60_000;

/**
 * One operation on the link of a task and a work item: create it at its tracker, bring it in, or synchronise the comments. Each
 * step finds what an earlier try of it did, so that there is one work item and one task wherever a process was killed. A
 * cancellation is ignored: it would leave a work item at the tracker that no task names.
 */
export async function trackerLink(input: TrackerLinkInput): Promise<TrackerLinkOutcome> {
  return CancellationScope.nonCancellable(async () => {
    const { linkId, operationId } = input;
    const ref = { linkId, operationId };
    try {
      const begun = await records.beginTrackerLink(ref);
      if (begun.over) {
        const { over: _over, ...result } = begun;
        return { operationId, ...result };
      }
      setCurrentDetails(`**${begun.kind}** is under way.`);
      const { refused, created = false } = await perform(input, begun);
      if (!refused && begun.kind !== 'comments') {
        await records.noteWorkItem(ref);
      }
      return { operationId, ...(await records.settleTrackerLink({ ...ref, refused, created })) };
    } catch (error) {
      // A request that another one has replaced is refused, as one that cannot be done.
      return { operationId, refused: failedRefusal(error), imported: 0, delivered: 0, created: false };
    }
  });
}

interface Performed {
  refused: Refusal | null;
  created?: boolean;
}

async function perform(
  input: TrackerLinkInput,
  { kind, searchDelayMs }: { kind: 'create' | 'import' | 'comments'; searchDelayMs: number },
): Promise<Performed> {
  const { linkId, operationId } = input;
  const ref = { linkId, operationId };
  try {
    switch (kind) {
      case 'create':
        return await create(input, searchDelayMs);
      case 'import':
        return await callingWithin(input).importWorkItem(ref);
      case 'comments':
        return await callingWithin(input).syncWorkItemComments(ref);
    }
  } catch (error) {
    return { refused: failedRefusal(error) };
  }
}

async function create(input: TrackerLinkInput, searchDelayMs: number): Promise<Performed> {
  const { linkId, operationId, retryMs } = input;
  const { createWorkItem } = creatingWithin(input);
  for (let tried = 1; ; tried += 1) {
    try {
      return await createWorkItem({ linkId, operationId });
    } catch (error) {
      if (!(error instanceof ActivityFailure) || tried === maxTries || isFinal(error)) {
        throw error;
      }
      const pauseMs = Math.min(retryMs * 2 ** (tried - 1), maxPauseMs);
      await sleep(waitOf(error) ?? Math.max(searchDelayMs, pauseMs), { summary: 'wait for the tracker' });
    }
  }
}

const isFinal = ({ cause }: ActivityFailure): boolean =>
  cause instanceof ApplicationFailure && cause.nonRetryable === true;

import type { GoalUsage } from '../../contracts/governance/goals/goal';
import type { RunEventKind } from '../../contracts/runs/event';
import { noGoalUsage } from '../../domain/goals/usage';
import { egressEventName } from '../../domain/sandbox/network';
import type { AdmissionRequestStore } from '../../stores/runs/admission/admission-request-store';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import type { RunEventStore } from '../../stores/runs/event-store';

export interface UsageSources {
  events: Pick<RunEventStore, 'read'>;
  requests: Pick<AdmissionRequestStore, 'get'>;
}

const begins: ReadonlySet<RunEventKind> = new Set(['tool.started', 'command.started']);
const ends: ReadonlySet<RunEventKind> = new Set(['tool.completed', 'command.completed']);
/** How many events are read at a time. */
const pageSize = 500;

/** What one ended run counts for in the usage of its goal: what it reported, and what was seen of it. */
export async function usageOfRun(sources: UsageSources, record: AttemptRecord): Promise<GoalUsage> {
  const { inputTokens = 0, outputTokens = 0, cost = 0 } = record.usage ?? {};
  const request = await sources.requests.get(record._id);
  return {
    ...noGoalUsage,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    costUsd: cost,
    toolCalls: await toolCallsOf(sources, record._id),
    runtimeSeconds: runtimeOf(record),
    retries: record.retryNumber > 0 ? 1 : 0,
    fanOut: request?.edge === 'child-agent' ? 1 : 0,
  };
}

/** From the start of the agent to its end; a run without an agent took none. */
function runtimeOf({ startedAt, completion }: AttemptRecord): number {
  if (startedAt === undefined || !completion) {
    return 0;
  }
  const elapsedMs = completion.harness.durationMs ?? Date.parse(completion.completedAt) - Date.parse(startedAt);
  return Math.max(0, elapsedMs) / 1_000;
}

/** The uses of tools and commands that the agent reported as begun, or as done: some report only one of the two. */
async function toolCallsOf({ events }: UsageSources, attemptId: string): Promise<number> {
  const calls = { begun: 0, done: 0 };
  for (let after = 0; ;) {
    const page = await events.read(attemptId, after, pageSize);
    calls.begun += page.filter(({ kind }) => begins.has(kind)).length;
    calls.done += page.filter(({ kind, payload }) => ends.has(kind) && payload.name !== egressEventName).length;
    const last = page.at(-1);
    if (!last || page.length < pageSize) {
      return Math.max(calls.begun, calls.done);
    }
    after = last.sequence;
  }
}

import type { Refusal } from '../../../contracts/refusal';
import { refusedTraces } from '../../../domain/contract';
import type { RefusedPlan } from '../../../domain/launch-plan';
import type { LaunchInputs } from '../../../domain/readiness';
import { routeTrace } from '../../../domain/routing/trace';
import type { TraceStore } from '../../governance/trace-store';

/**
 * Writes down how a launch was routed; nothing for one that names its agent.
 *
 * @param attemptId the attempt the decision is for, so that deciding again is one trace; a preview has none
 */
export async function traceRoute(
  traces: Pick<TraceStore, 'record'>,
  { route, task }: Pick<LaunchInputs, 'route' | 'task'>,
  attemptId?: string,
): Promise<string | undefined> {
  if (!route) {
    return undefined;
  }
  const trace = routeTrace(route, { taskId: task.id, actionType: 'launch' });
  return traces.record({ ...trace, ...(attemptId === undefined ? {} : { dedupeKey: attemptId }) });
}

/**
 * Writes down why a launch was refused, and returns the refusal; it names the trace when it was routing that refused it.
 *
 * @param attemptId the attempt the decision is for, so that deciding again is one trace; none before one is made
 */
export async function traceRefusal(
  traces: Pick<TraceStore, 'record'>,
  subject: Pick<LaunchInputs, 'route' | 'task'>,
  { plan: { refused, byGate }, attemptId }: { plan: RefusedPlan; attemptId?: string },
): Promise<Refusal> {
  for (const trace of byGate ? refusedTraces(byGate, attemptId) : []) {
    await traces.record(trace);
  }
  return traceRefusedRoute(traces, subject, { refused, attemptId });
}

/** A refused launch with the trace of the reasons, when routing refused it. */
export async function traceRefusedRoute(
  traces: Pick<TraceStore, 'record'>,
  subject: Pick<LaunchInputs, 'route' | 'task'>,
  { refused, attemptId }: { refused: Refusal; attemptId?: string },
): Promise<Refusal> {
  if (!subject.route || subject.route.selected) {
    return refused;
  }
  const traceId = await traceRoute(traces, subject, attemptId);
  return { ...refused, details: { ...refused.details, traceId } };
}

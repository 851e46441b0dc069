import type { LaunchRefusal } from '../contracts/launch';
import type { LaunchSubject } from '../runs/readiness';
import { routeTrace } from '../runs/routing/trace';
import type { TraceStore } from './trace-store';

/**
 * Writes down how a launch was routed; nothing for one that names its agent.
 *
 * @param attemptId the attempt the decision is for, so that deciding again is one trace; a preview has none
 */
export async function traceRoute(
  traces: Pick<TraceStore, 'record'>,
  { route, task }: Pick<LaunchSubject, 'route' | 'task'>,
  attemptId?: string,
): Promise<string | undefined> {
  if (!route) return undefined;
  const trace = routeTrace(route, { taskId: task.id, actionType: 'launch' });
  return traces.record({ ...trace, ...(attemptId === undefined ? {} : { dedupeKey: attemptId }) });
}

/** A refused launch with the trace that says why, when it was routing that refused it. */
export async function tracedRefusal(
  traces: Pick<TraceStore, 'record'>,
  subject: Pick<LaunchSubject, 'route' | 'task'>,
  refused: LaunchRefusal,
  attemptId?: string,
): Promise<LaunchRefusal> {
  if (!subject.route || subject.route.selected) return refused;
  const traceId = await traceRoute(traces, subject, attemptId);
  return { ...refused, details: { ...refused.details, traceId } };
}

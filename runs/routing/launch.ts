import type { LaunchRefusal, LaunchRequest } from '../../contracts/launch';
import type { RouteWork } from '../../contracts/routing';
import type { Task } from '../../contracts/task';
import { refusal } from '../refusal';
import { decideRoute, type RouteDecision, type RoutingInputs } from './decide';
import { routeRemediation } from './trace';

/** What routing sees of a task. */
export const workOf = (task: Pick<Task, 'type' | 'priority' | 'project' | 'subtasks'>): RouteWork => ({
  type: task.type,
  priority: task.priority,
  ...(task.project === undefined ? {} : { project: task.project }),
  subtaskCount: task.subtasks.length,
});

/** What the agent of a launch follows from. */
export interface RoutedLaunch {
  task: Task;
  request: LaunchRequest;
  routing: RoutingInputs;
}

/** The agent the launch or the task names; null leaves it to routing. */
export const requestedAgentOf = ({ task, request }: Pick<RoutedLaunch, 'task' | 'request'>): string | null =>
  request.agent ?? (task.agent === 'auto' ? null : (task.agent ?? null));

/** How a launch that names no agent is routed; undefined when it names one. */
export function launchRoute(launch: RoutedLaunch): RouteDecision | undefined {
  if (requestedAgentOf(launch) !== null) return undefined;
  const required = launch.request.requiredRuntimeCapabilities ?? [];
  return decideRoute(launch.routing, { work: workOf(launch.task), required, toLaunch: true });
}

/**
 * The refusal of work that no agent takes. With runtime requirements it is about them, and lists every manifest that was
 * rejected.
 */
export function routeRefusal(decision: RouteDecision): LaunchRefusal {
  const { question, tried, candidates, rule, reason, routingEnabled } = decision;
  const code = question.required.length > 0 && candidates.length > 0 ? 'CAPABILITY_UNSUPPORTED' : 'CONFLICT';
  return refusal(code, 409, 'No healthy agent available for routing', {
    agent: tried[0]?.agent ?? null,
    reason,
    routingEnabled,
    rule,
    requiredCapabilities: question.required,
    reasons: candidates.flatMap(({ agent, reasons }) => reasons.map((each) => ({ agent, ...each }))).slice(0, 100),
    runtimeCandidates: candidates.slice(0, 100),
    remediation: routeRemediation,
  });
}

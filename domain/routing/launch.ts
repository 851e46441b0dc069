import type { Refusal } from '../../contracts/refusal';
import type { LaunchRequest } from '../../contracts/runs/launch/launch';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { RouteWork } from '../../contracts/settings/routing';
import type { Task } from '../../contracts/tasks/task';
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

/** Who is named to take a launch, and by what; undefined when routing decides. */
function namedAgent({
  task,
  request,
}: Pick<RoutedLaunch, 'task' | 'request'>): { type: string; by: string } | undefined {
  if (request.agent !== undefined) {
    return { type: request.agent, by: 'launch request' };
  }
  return task.agent === undefined || task.agent === 'auto' ? undefined : { type: task.agent, by: 'task.agent' };
}

/** How a launch is routed that names neither an agent nor a profile; undefined when it does. */
export function launchRoute(launch: RoutedLaunch): RouteDecision | undefined {
  if (launch.request.profileId !== undefined || namedAgent(launch)) {
    return undefined;
  }
  const required = launch.request.requiredRuntimeCapabilities ?? [];
  return decideRoute(launch.routing, { work: workOf(launch.task), required, toLaunch: true });
}

/** The request with the profile that a member of the roster works with. */
export const routedRequest = (request: LaunchRequest, route: RouteDecision | undefined): LaunchRequest =>
  route?.selected?.profileId ? { ...request, profileId: route.selected.profileId } : request;

export interface AgentSelection {
  agent: AgentConfig;
  /** What the launch or the task named. */
  requestedAgent: string | null;
  reason: string;
  fallbackAgent: string | null;
  fallbackAllowed: boolean;
  /** The model of the route instead of the agent's own. */
  model?: string;
}

/** The agent of a launch: the one that is named, else the one its route leads to. */
export function selectAgent(
  launch: Pick<RoutedLaunch, 'task' | 'request'> & { agents: AgentConfig[]; route: RouteDecision | undefined },
): AgentSelection | Refusal {
  const { route } = launch;
  if (route) {
    if (!route.selected) {
      return routeRefusal(route);
    }
    const { agent, model, fallbackAgent } = route.selected;
    return {
      agent,
      ...(model === null || model === agent.model ? {} : { model }),
      requestedAgent: null,
      reason: route.rule === null ? route.reason : `${route.rule}: ${route.reason}`,
      fallbackAgent,
      fallbackAllowed: route.fallbackAllowed && fallbackAgent !== null,
    };
  }
  const requested = namedAgent(launch);
  if (!requested) {
    return refusal('CONFLICT', 'No healthy agent available for routing', { agent: null });
  }
  const { type, by: reason } = requested;
  const agent = launch.agents.find((candidate) => candidate.type === type);
  const available = launch.agents.filter((candidate) => candidate.enabled).map((candidate) => candidate.type);
  if (!agent) {
    return refusal('AGENT_UNKNOWN', `No agent has the type ${type}.`, { agent: type, available });
  }
  if (!agent.enabled) {
    return refusal('AGENT_UNAVAILABLE', `Agent ${type} is disabled.`, { agent: type, available });
  }
  return { agent, requestedAgent: type, reason, fallbackAgent: null, fallbackAllowed: false };
}

/**
 * The refusal of work that no agent takes. With runtime requirements it is about them, and lists every manifest that was
 * rejected.
 */
export function routeRefusal(decision: RouteDecision): Refusal {
  const { question, tried, candidates, rule, reason, routingEnabled } = decision;
  const code = question.required.length > 0 && candidates.length > 0 ? 'CAPABILITY_UNSUPPORTED' : 'CONFLICT';
  return refusal(code, 'No healthy agent available for routing', {
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

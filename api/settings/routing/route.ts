import type { z } from 'zod';
import type { hostPreview, routeRequest, routeResult, RuntimeCandidate } from '../../../contracts/settings/routing';
import { runtimeCandidates } from '../../../domain/routing/candidates';
import { decideRoute, type RouteDecision } from '../../../domain/routing/decide';
import { routeRefusal, workOf } from '../../../domain/routing/launch';
import { routeTrace } from '../../../domain/routing/trace';
import { assertFound } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';
import { refusalError } from '../../refusal-error';

/** What the endpoints of routing use. */
export type RoutingContext = Pick<ApiContext, 'routing' | 'traces' | 'board'>;

type RouteResult = z.infer<typeof routeResult>;

/**
 * Finds the agent for a task or for work that is described, and records why.
 *
 * @throws AppError 404 when the task is not there; 409 when no agent takes the work, with every manifest that was rejected
 */
export async function routeWork(context: RoutingContext, request: z.infer<typeof routeRequest>): Promise<RouteResult> {
  const { taskId, requiredRuntimeCapabilities: required = [], ...described } = request;
  const work = taskId === undefined ? described : await workOfTask(context, taskId);
  const decision = decideRoute(await context.routing.inputs(), { work, required, toLaunch: false });
  const about = { actionType: 'route', ...compact({ taskId }) };
  const traceId = await context.traces.record(routeTrace(decision, about));
  if (!decision.selected) {
    const refused = routeRefusal(decision);
    throw refusalError({ ...refused, details: { ...refused.details, traceId } });
  }
  return present(decision, decision.selected, traceId);
}

async function workOfTask({ board }: RoutingContext, taskId: string) {
  const task = await board.get(taskId);
  assertFound(task, 'task', taskId);
  return workOf(task.task);
}

function present(
  { question, candidates, rule, reason }: RouteDecision,
  { agent, model, profileId }: NonNullable<RouteDecision['selected']>,
  traceId: string,
): RouteResult {
  const chosen = candidates.find(({ selected }) => selected);
  if (!chosen) {
    throw new Error('A route was decided without a manifest.');
  }
  const { manifestDigest, provider, compatible } = chosen;
  return {
    agent: agent.type,
    model,
    profileId,
    rule,
    reason,
    runtimeSelection: {
      requiredCapabilities: [...question.required],
      compatible,
      selectedManifest: { manifestDigest, provider, compatible },
      candidates: candidates.filter((each) => each.agent === agent.type),
    },
    runtimeCandidates: candidates,
    traceId,
  };
}

/** What every live host could run, and why not what it could not. */
export async function previewHosts(
  { routing }: Pick<RoutingContext, 'routing'>,
  required: string[],
): Promise<z.infer<typeof hostPreview>> {
  const [{ agents, evidence }, live] = await Promise.all([routing.inputs(), routing.hosts.live()]);
  const hosts = live.map(({ _id: hostId, hostname, seenAt }) => {
    const here = evidence.filter(({ source, sourceId }) => source !== 'registry' && sourceId === hostId);
    const candidates = agents
      .flatMap((agent) => runtimeCandidates({ agent, model: agent.model ?? null, required, toLaunch: true }, here))
      .map(({ selected: _selected, ...candidate }: RuntimeCandidate) => candidate);
    const sandbox = here.find(({ manifest }) => manifest.sandbox)?.manifest.sandbox ?? null;
    return {
      hostId,
      hostname,
      seenAt,
      sandbox,
      compatible: candidates.some(({ compatible }) => compatible),
      candidates,
    };
  });
  return { requiredCapabilities: required, generatedAt: new Date().toISOString(), hosts };
}

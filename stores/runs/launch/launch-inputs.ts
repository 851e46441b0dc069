import type { LaunchRequest } from '../../../contracts/runs/launch/launch';
import { childAuthority, inheritsProfile, type ParentAuthority } from '../../../domain/children/authority';
import type { LaunchInputs } from '../../../domain/readiness';
import { launchRoute, routedRequest } from '../../../domain/routing/launch';
import type { Board } from '../../board-files/types';
import type { ProfileStore } from '../../settings/profile-store';
import type { RepositoryStore } from '../../settings/repository-store';
import type { RoutingStore } from '../../settings/routing-store';
import type { SandboxStore } from '../../settings/sandbox-store';
import type { SettingsStore } from '../../settings/settings-store';
import type { TransitionHookStore } from '../../settings/transition-hook-store';
import type { TaskCheckpointStore } from '../../tasks/checkpoint-store';
import type { AttemptStore } from '../attempt-store';

export interface LaunchSources {
  attempts: Pick<AttemptStore, 'get'>;
  board: Pick<Board, 'get'>;
  routing: Pick<RoutingStore, 'inputs'>;
  repositories: Pick<RepositoryStore, 'find'>;
  profiles: Pick<ProfileStore, 'get'>;
  sandboxes: Pick<SandboxStore, 'get'>;
  settings: Pick<SettingsStore, 'read'>;
  transitionHooks: Pick<TransitionHookStore, 'read'>;
  taskCheckpoints: Pick<TaskCheckpointStore, 'read'>;
}

/**
 * The current inputs of the launch gate; `undefined` when there is no such task. Previews and admissions both use them, so that
 * they decide alike.
 */
export async function loadLaunchInputs(
  sources: LaunchSources,
  taskId: string,
  asked: LaunchRequest,
): Promise<LaunchInputs | undefined> {
  const boardTask = await sources.board.get(taskId);
  if (!boardTask) {
    return undefined;
  }
  const { task, location } = boardTask;
  const parent = await parentOf(sources, taskId, asked);
  const routing = await sources.routing.inputs();
  const route = parent && inheritsProfile(parent, asked) ? undefined : launchRoute({ task, request: asked, routing });
  const request = routedRequest(asked, route);
  const [repository, profile, sandbox, { features }, { checkpoint }, { value: transitionHooks }] = await Promise.all([
    task.git?.repo === undefined ? undefined : sources.repositories.find(task.git.repo),
    request.profileId === undefined ? undefined : sources.profiles.get(request.profileId),
    request.sandboxPresetId === undefined ? undefined : sources.sandboxes.get(request.sandboxPresetId),
    sources.settings.read(),
    sources.taskCheckpoints.read(task),
    sources.transitionHooks.read(),
  ]);
  const { autoCommitOnComplete, timeoutMinutes } = features.agents;
  const inputs = { request, profile, sandbox };
  const child = parent && childAuthority(parent, inputs);
  return {
    // With the state of its checkpoint, which is elsewhere; without one that has expired.
    task: { ...task, checkpoint: checkpoint ?? undefined },
    location,
    ...inputs,
    ...child,
    agents: routing.agents,
    maxRetries: routing.configuration.maxRetries,
    route,
    repository,
    autoCommitOnComplete,
    transitionHooks,
    timeoutMs: timeoutMinutes * 60_000,
  };
}

/**
 * The attempt whose authority limits a launch. On another task the launch is a child; on its own task it repeats the
 * attempt that it names, with what limits that as a child.
 */
async function parentOf(
  { attempts }: Pick<LaunchSources, 'attempts'>,
  taskId: string,
  { parentAttemptId }: LaunchRequest,
): Promise<ParentAuthority | undefined> {
  const parent = parentAttemptId === undefined ? undefined : await attempts.get(parentAttemptId);
  if (!parent || (parent.taskId === taskId && !parent.inherited)) {
    return undefined;
  }
  return { ...parent, attemptId: parent._id };
}

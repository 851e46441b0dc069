import type { LaunchRequest } from '../contracts/launch';
import type { LaunchSubject } from '../runs/readiness';
import { launchRoute, routedRequest } from '../runs/routing/launch';
import type { Board } from './board-files/types';
import type { ProfileStore } from './profile-store';
import type { RepositoryStore } from './repository-store';
import type { RoutingStore } from './routing-store';
import type { SandboxStore } from './sandbox-store';
import type { SettingsStore } from './settings-store';
import type { TaskCheckpointStore } from './task-checkpoint-store';

export interface LaunchSources {
  board: Pick<Board, 'get'>;
  routing: Pick<RoutingStore, 'inputs'>;
  repositories: Pick<RepositoryStore, 'find'>;
  profiles: Pick<ProfileStore, 'get'>;
  sandboxes: Pick<SandboxStore, 'get'>;
  featureSettings: Pick<SettingsStore, 'read'>;
  taskCheckpoints: Pick<TaskCheckpointStore, 'read'>;
}

/**
 * Everything the launch gate looks at, as it is now; `undefined` when there is no such task. Previews and admissions
 * both ask here, so that they decide on the same things.
 */
export async function loadLaunchSubject(
  sources: LaunchSources,
  taskId: string,
  asked: LaunchRequest,
): Promise<LaunchSubject | undefined> {
  const found = await sources.board.get(taskId);
  if (!found) return undefined;
  const { task, location } = found;
  const routing = await sources.routing.inputs();
  const route = launchRoute({ task, request: asked, routing });
  const request = routedRequest(asked, route);
  const [repository, profile, sandbox, { features }, { checkpoint }] = await Promise.all([
    task.git?.repo === undefined ? undefined : sources.repositories.find(task.git.repo),
    request.profileId === undefined ? undefined : sources.profiles.get(request.profileId),
    request.sandboxPresetId === undefined ? undefined : sources.sandboxes.get(request.sandboxPresetId),
    sources.featureSettings.read(),
    sources.taskCheckpoints.read(task),
  ]);
  const { autoCommitOnComplete, timeoutMinutes } = features.agents;
  return {
    // With the state of its checkpoint, which is elsewhere; without one that has expired.
    task: { ...task, checkpoint: checkpoint ?? undefined },
    location,
    request,
    agents: routing.agents,
    maxRetries: routing.configuration.maxRetries,
    route,
    repository,
    profile,
    sandbox,
    autoCommitOnComplete,
    timeoutMs: timeoutMinutes * 60_000,
  };
}

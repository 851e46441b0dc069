import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { WorkerDeploymentOptions } from '@temporalio/worker';
import type { WorkerEnvironment } from '../../config/part-settings';
import type { Log } from '../../log/log';

/** The versions of the worker's code form one deployment in Temporal. */
export const deploymentName = 'runboard';

/** How soon it is asked again whether the server knows this version, which it does once a worker of it polls, in milliseconds. */
const everyMs = 500;
/** `INVALID_ARGUMENT`, `PERMISSION_DENIED`, `UNIMPLEMENTED` and `UNAUTHENTICATED` of gRPC: asking again does not help. */
const final = new Set([3, 7, 12, 16]);

type VersionSettings = Pick<WorkerEnvironment, 'BOARD_WORKER_BUILD_ID' | 'BOARD_WORKER_VERSIONING'>;

/**
 * How a worker takes workflow tasks: without a build id, of all workflows; with one, of those that its version is to execute. A
 * workflow follows the current version from one task to the next, and never back to an earlier one; where it is pinned, it ends
 * on the version that has begun it. Workflows that do not end follow the current version in either case.
 */
export const deploymentOptions = ({
  BOARD_WORKER_BUILD_ID: buildId,
  BOARD_WORKER_VERSIONING: versioning,
}: VersionSettings): { workerDeploymentOptions?: WorkerDeploymentOptions } =>
  buildId === undefined
    ? {}
    : {
        workerDeploymentOptions: {
          version: { deploymentName, buildId },
          useWorkerVersioning: true,
          defaultVersioningBehavior: versioning === 'pinned' ? 'PINNED' : 'AUTO_UPGRADE',
        },
      };

/**
 * Makes a version the current one of the deployment when there is none, as after the first start: no workflow would be executed
 * otherwise. Replacing a current version is up to the operator. Resolves with the current version's build id.
 *
 * @throws the reason of the signal, or of a server that does not accept it
 */
export async function claimFirstDeployment(
  { workflowService, options: { namespace } }: Client,
  { buildId, log, signal }: { buildId: string; log: Log; signal: AbortSignal },
): Promise<string> {
  for (;;) {
    try {
      const current = await currentBuild(workflowService, namespace);
      if (current.buildId) {
        if (current.buildId !== buildId) {
          log.warn({ buildId, current: current.buildId }, 'worker version not current, waiting to be made so');
        }
        return current.buildId;
      }
      await workflowService.setWorkerDeploymentCurrentVersion({
        namespace,
        deploymentName,
        buildId,
        conflictToken: current.conflictToken,
      });
      log.info({ buildId }, 'worker version made current');
      return buildId;
    } catch (error) {
      if (!isGrpcServiceError(error) || final.has(error.code)) {
        throw error;
      }
    }
    await delay(everyMs, undefined, { signal });
  }
}

async function currentBuild(service: Client['workflowService'], namespace: string) {
  const { workerDeploymentInfo, conflictToken } = await service.describeWorkerDeployment({ namespace, deploymentName });
  return { buildId: workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId, conflictToken };
}

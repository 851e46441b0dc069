/** Some hosts of the simulated fleet in one process: each with its heartbeat and its task queue. Killed, all of them are lost at once. */
import { setTimeout as delay } from 'node:timers/promises';
import { heartbeat } from '@temporalio/activity';
import { NativeConnection, Worker } from '@temporalio/worker';
import { requireReservation } from '../../../activities/agent-run/admission/hold';
import type { DispatchActivities } from '../../../activities/agent-run/dispatch/activities';
import type { PrepareActivities } from '../../../activities/agent-run/prepare/activities';
import { identifySelf } from '../../../platform/processes/identity';
import { announceReady } from '../../../platform/processes/parts/lifecycle';
import { installRuntime } from '../../../platform/temporal/runtime';
import { startHeartbeat } from '../../../worker/heartbeat';
import { hostQueue } from '../../../workflows/queues';
import { heartbeatTimeoutMs, log, openParts, type Parts, type Plan, planOf } from './parts';
import { openWitness } from './witness';

export interface HostPlan extends Plan {
  hostIds: string[];
}

/** As often as an agent of the simulation reports that it lives, in milliseconds. */
const beatMs = heartbeatTimeoutMs / 6;

/** The activities of a host, with agents that only take time. */
function activitiesOf(hostId: string, { control }: Parts, { dataDir, agentMs }: HostPlan) {
  const witness = openWitness(dataDir);
  const taskOf = async (attemptId: string) => (await control.requests.get(attemptId))?.taskId ?? '';
  const activities: Pick<PrepareActivities, 'prepare'> & Pick<DispatchActivities, 'dispatch' | 'reclaim'> = {
    prepare: async ({ attemptId }) => ({
      taskId: await taskOf(attemptId),
      attemptId,
      agent: 'a',
      provider: 'process',
      status: 'running',
      startedAt: new Date().toISOString(),
      providerRuntimeManifestDigest: 'sha256:0',
      runLaunchManifestDigest: 'sha256:1',
    }),
    async dispatch({ attemptId }) {
      await requireReservation(control, attemptId);
      const of = { attemptId, taskId: await taskOf(attemptId), hostId };
      witness.note({ what: 'started', ...of });
      const endsAt = performance.now() + agentMs;
      for (let left = agentMs; left > 0; left = endsAt - performance.now()) {
        heartbeat();
        await delay(Math.min(left, beatMs));
      }
      witness.note({ what: 'ended', ...of });
    },
    // An agent that had ended before its host was lost left its claim on the host's disk.
    reclaim: async ({ attemptId }) => ({
      claimed: witness.moments().some((moment) => moment.attemptId === attemptId && moment.what === 'ended'),
    }),
  };
  return activities;
}

async function main(): Promise<void> {
  const plan = planOf() as HostPlan;
  installRuntime(log);
  const connection = await NativeConnection.connect({ address: plan.temporalAddress });
  const parts = await openParts(plan);
  const self = await identifySelf();
  const workers: Worker[] = [];
  const beats = [];
  for (const hostId of plan.hostIds) {
    const taskQueue = hostQueue(hostId);
    workers.push(
      await Worker.create({
        connection,
        taskQueue,
        activities: activitiesOf(hostId, parts, plan),
        maxConcurrentActivityTaskExecutions: plan.slots + 2,
        maxConcurrentActivityTaskPolls: 1,
        maxHeartbeatThrottleInterval: beatMs,
        shutdownGraceTime: 0,
      }),
    );
    beats.push(
      await startHeartbeat({
        hostId,
        workerId: `${hostId}-${process.pid}`,
        process: self,
        hosts: parts.hosts,
        admission: parts.control,
        attempts: { get: async () => ({ state: 'running' }) },
        concurrency: plan.slots,
        queues: [taskQueue],
        findings: async () => [],
        agentPresets: () => ({ checkedAt: new Date(0).toISOString(), node: 20, npx: false, presets: [] }),
        log,
      }),
    );
  }
  process.once('disconnect', () => workers.forEach((worker) => worker.shutdown()));
  announceReady();
  await Promise.all(workers.map((worker) => worker.run()));
  await Promise.all(beats.map((beat) => beat.close()));
  await parts.close();
  await connection.close();
}

void main();

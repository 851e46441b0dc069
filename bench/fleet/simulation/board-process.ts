/** The board's worker of the simulated fleet: the real workflows and the real scheduler, with launches of tasks that are not there. */
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createSchedulerActivities } from '../../../activities/admission-scheduler/activities';
import type { AdmissionActivities, Admitted } from '../../../activities/agent-run/admission/activities';
import { decideCapacity } from '../../../activities/agent-run/admission/decide';
import type { CompletionActivities } from '../../../activities/agent-run/completion/activities';
import type { RecoveryActivities } from '../../../activities/recovery/activities';
import { localWorkspace } from '../../../contracts/common';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { announceReady } from '../../../platform/processes/parts/lifecycle';
import { installRuntime } from '../../../platform/temporal/runtime';
import type { AgentRunInput } from '../../../workflows/agent-run/messages';
import { runSignals } from '../../../workflows/agent-run/signals-client';
import { boardQueue } from '../../../workflows/queues';
import { log, openParts, type Parts, type Plan, planOf } from './parts';
import { openWitness } from './witness';

type BoardActivities = AdmissionActivities &
  Pick<CompletionActivities, 'announceStart' | 'finish' | 'abandon' | 'endOf'> &
  Pick<RecoveryActivities, 'beginRecovery'>;

function activitiesOf({ client, control, hosts }: Parts, { dataDir }: Plan) {
  const { queue, requests, reservations } = control;
  const witness = openWitness(dataDir);
  const signals = runSignals(client, {
    sign: () => {
      throw new Error('The simulation stops no run.');
    },
  });

  /** Where a launch stands in its tree. A retry stays on the host that has the worktree of its task. */
  async function requestOf(input: AgentRunInput): Promise<AdmissionRequest> {
    const recorded = await requests.get(input.attemptId);
    if (recorded) {
      return recorded;
    }
    const parentAttemptId = input.retry?.parentAttemptId ?? input.origin?.parentAttemptId;
    const parent = parentAttemptId === undefined ? undefined : await requests.get(parentAttemptId);
    const hostId = (input.retry && parent?.hostId) ?? (await hosts.anyLive());
    if (hostId === undefined) {
      throw new Error('No host is live.');
    }
    return requests.put(
      sampleRequest(input.attemptId, {
        taskId: input.taskId,
        rootTaskId: parent?.rootTaskId ?? input.taskId,
        workspaceId: input.workspaceId ?? localWorkspace,
        hostId,
        requestedAt: new Date().toISOString(),
        ...(parent && {
          source: input.retry ? 'recovery' : 'child-agent',
          edge: input.retry ? 'retry' : 'child-agent',
          rootObjectiveId: parent.rootObjectiveId,
          parentNodeId: parent.nodeId,
          depth: parent.depth + 1,
        }),
      }),
    );
  }

  const endOf = async (attemptId: string): Promise<{ endedAt: string }> => {
    const now = new Date();
    await reservations.release(attemptId, { reason: 'completed', evidence: 'simulation', now });
    await control.wakeScheduler();
    return { endedAt: now.toISOString() };
  };

  const activities: BoardActivities = {
    async admit(input) {
      const request = await requestOf(input);
      const { agent, provider, phase, hostId } = request;
      const admitted: Admitted = { agent, provider, phase, hostId, decidedAt: request.requestedAt };
      const decided = await decideCapacity(control, request);
      if (decided.decision === 'queued') {
        await control.wakeScheduler();
      }
      return decided.decision === 'held' ? admitted : { ...admitted, launch: decided.launch };
    },

    // The real one, but for what it compares with a task, an agent and rules, which do not change here.
    async confirmDispatch({ attemptId }) {
      const entry = await queue.get(attemptId);
      if (!entry || entry.state === 'dispatched') {
        return { turn: 'go' };
      }
      const reservation = await reservations.get(attemptId);
      const hostThere = entry.hostId === null || (await hosts.capacityOf(entry.hostId)).takesWork;
      if (entry.state !== 'leased' || reservation?.state !== 'active' || !hostThere) {
        await reservations.releaseForRequeue(attemptId, new Date());
        await queue.putBack(attemptId);
        return { turn: 'wait' };
      }
      const { admission } = await control.settings.current();
      await reservations.renew(attemptId, new Date(), admission.leaseMs);
      const dispatched = (await queue.dispatched(attemptId, new Date().toISOString())) ?? (await queue.get(attemptId));
      return { turn: dispatched?.state === 'dispatched' ? 'go' : 'wait' };
    },

    announceStart: async () => [],

    async finish({ attemptId, ending, nextAttemptId }) {
      const request = await requests.get(attemptId);
      const { endedAt } = await endOf(attemptId);
      if (ending.by === 'lost') {
        const retry = { attemptId: nextAttemptId, retryNumber: (request?.depth ?? 0) + 1, backoffMs: 0 };
        return { status: 'interrupted', endedAt, retry };
      }
      witness.note({ what: 'recorded', attemptId, taskId: request?.taskId ?? '', hostId: request?.hostId ?? null });
      return { status: 'success', endedAt };
    },

    abandon: ({ attemptId }) => endOf(attemptId),
    endOf: async () => null,
    beginRecovery: async () => true,
  };
  const scheduler = createSchedulerActivities({
    ...control,
    inWorkspace: async () => ({
      ...control,
      attempts: { get: async () => undefined },
      signalCapacity: (id) => signals.signalCapacity(id),
      requestStop: async () => true,
    }),
    log,
    now: () => new Date(),
  });
  return { ...activities, ...scheduler };
}

async function main(): Promise<void> {
  const plan = planOf() as Plan;
  installRuntime(log);
  const connection = await NativeConnection.connect({ address: plan.temporalAddress });
  const parts = await openParts(plan);
  const worker = await Worker.create({
    connection,
    taskQueue: boardQueue,
    workflowBundle: { codePath: join(__dirname, '..', '..', '..', 'workflow-bundle.js') },
    activities: activitiesOf(parts, plan),
  });
  process.once('disconnect', () => worker.shutdown());
  announceReady();
  await worker.run();
  await parts.close();
  await connection.close();
}

void main();

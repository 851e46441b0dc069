import type { Log } from '../../platform/log/log';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import type { TreeCancelInput } from '../../workflows/cancel-execution-tree/messages';
import { treeCancelMessage } from '../../workflows/message-proofs';
import type { AdmissionControl } from '../agent-run/admission/dependencies';

export interface TreeDependencies {
  admission: AdmissionControl;
  attempts: Pick<AttemptStore, 'get'>;
  /** Requests a stop of a run without waiting for its end; false when that run is over. */
  requestStop(attemptId: string, actor: string): Promise<boolean>;
  proofs: ProofVerifier;
  log: Log;
  now(): Date;
}

export interface Drained {
  /** Nodes that were queued, and those that ran, when they were signalled to end for the first time. */
  queued: number;
  interrupted: number;
  /** Nodes that have not ended. */
  remaining: number;
}

export function createTreeActivities(deps: TreeDependencies) {
  const { trees, queue } = deps.admission;
  return {
    /** From here on nothing is launched in the tree. Repeating it changes nothing. */
    async closeTree({ proof, ...cancel }: TreeCancelInput): Promise<void> {
      const { rootObjectiveId, actor, reason, keyHash } = cancel;
      // A cancel that was accepted once continues, however long its tree takes to end.
      const tree = await trees.get(rootObjectiveId);
      if (tree?.state === 'cancelled' && tree.control?.keyHash === keyHash) {
        return;
      }
      await deps.proofs.require(treeCancelMessage(cancel), proof);
      await trees.cancel(rootObjectiveId, {
        action: 'cancel',
        actor,
        reason,
        at: deps.now().toISOString(),
        keyHash,
      });
    },

    /**
     * Signals every node that has not ended to do so. A node is only signalled when its record shows that it is of this tree;
     * one that was registered without a record yet is waited for: its launch finds the tree closed, or is signalled later.
     */
    async drainTree({ rootObjectiveId }: Pick<TreeCancelInput, 'rootObjectiveId'>): Promise<Drained> {
      const tree = await trees.get(rootObjectiveId);
      const drained: Drained = { queued: 0, interrupted: 0, remaining: 0 };
      // Who cancelled it, and why, is read from the stores.
      if (tree?.state !== 'cancelled' || !tree.control) {
        return drained;
      }
      const { actor, reason, keyHash } = tree.control;
      for (const nodeId of Object.keys(tree.nodes)) {
        const record = await deps.attempts.get(nodeId);
        const isOver = !record || record.state === 'ended' || record.state === 'refused';
        if (isOver) {
          continue;
        }
        drained.remaining += 1;
        const at = deps.now().toISOString();
        if (await queue.cancel(nodeId, { keyHash: keyHash ?? '', reason, actor, at })) {
          drained.queued += 1;
        } else if (record.state === 'running' || record.state === 'dispatched') {
          drained.interrupted += 1;
        }
        await deps.requestStop(nodeId, actor);
      }
      return drained;
    },

    /** Records that the last node has ended. */
    async settleTree({
      rootObjectiveId,
      queued,
      interrupted,
    }: Pick<TreeCancelInput, 'rootObjectiveId'> & Omit<Drained, 'remaining'>): Promise<void> {
      await trees.drained(rootObjectiveId, { at: deps.now().toISOString(), queued, interrupted });
      deps.log.info({ rootObjectiveId, queued, interrupted }, 'cancelled execution tree ended');
    },
  };
}

export type TreeActivities = ReturnType<typeof createTreeActivities>;

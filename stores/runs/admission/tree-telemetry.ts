import type { TreeBudget } from '../../../contracts/settings/settings';
import { type BudgetUse, budgetUse, hasBudget } from '../../../domain/admission/budget';
import type { TelemetryStore } from '../../system/telemetry-store';
import type { ControlNote, TreeRecord } from './tree-store';

/** Reports each pause, resume and cancel of an execution tree as an event `admission.tree_control`. */
export const reportTreeControl =
  (telemetry: Pick<TelemetryStore, 'record'>) =>
  (
    { _id, rootTaskId, revision, state, descendants, signals }: TreeRecord,
    { action, actor, reason, at }: ControlNote,
  ) =>
    telemetry.record(
      {
        type: 'admission.tree_control',
        timestamp: at,
        taskId: rootTaskId,
        attemptId: _id,
        details: {
          rootObjectiveId: _id,
          action,
          state,
          actor,
          reason,
          descendants,
          ...(signals.length > 0 ? { signals: signals.map(({ signal }) => signal).join(', ') } : {}),
        },
      },
      `${_id} ${revision}`,
    );

/** What a tree has used of the budgets that are set, over the reports of all its runs; reads nothing if none is. */
export async function budgetsOfTree(
  telemetry: Pick<TelemetryStore, 'usageOf'>,
  budget: TreeBudget,
  { nodes }: Pick<TreeRecord, 'nodes'>,
): Promise<BudgetUse[]> {
  return hasBudget(budget) ? budgetUse(budget, await telemetry.usageOf(Object.keys(nodes))) : [];
}

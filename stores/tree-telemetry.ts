import type { TelemetryStore } from './telemetry-store';
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

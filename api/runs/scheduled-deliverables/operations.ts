import type { DeliverableRun } from '../../../contracts/runs/schedules/scheduled-deliverable';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { assertMayRunAgents } from '../../../platform/http/auth/local-agent';
import type { HttpContext } from '../../../platform/http/context';
import { ownFields } from '../../../stores/port/configured-records';
import { presentRun } from '../../../stores/runs/schedules/scheduled-deliverable-run-store';
import type { ScheduledDeliverableRecord } from '../../../stores/runs/schedules/scheduled-deliverable-store';
import type { WorkflowContext } from '../../context';
import { newItemId } from '../../tasks/tasks/items';

export type ScheduledDeliverableContext = Pick<
  WorkflowContext,
  'scheduledDeliverables' | 'deliverableRuns' | 'deliverableSchedules' | 'repositories' | 'schedulerMarks'
>;

const launching = 'agent:write';

/** @throws AppError 403 for a caller who may not launch agents, whatever else it may */
export function assertMayLaunch(auth: AuthContext, { req }: HttpContext): void {
  if (!auth.permissions.includes(launching)) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: `A scheduled deliverable with an agent launches it, which needs ${launching}.`,
      details: { required: [launching], currentRole: auth.role, currentPermissions: auth.permissions },
    });
  }
  assertMayRunAgents(auth, { headers: req.headers, connection: req.socket });
}

/** What the routes of scheduled deliverables and those of the scheduler do with one. */
export function createDeliverableOperations(context: ScheduledDeliverableContext) {
  const { scheduledDeliverables, deliverableRuns, deliverableSchedules } = context;

  async function find(id: string): Promise<ScheduledDeliverableRecord> {
    const definition = await scheduledDeliverables.get(id);
    assertFound(definition, 'scheduled deliverable', id);
    return definition;
  }

  return {
    find,

    /** Pauses or resumes one; its next runs are the caller's only when it is resumed. */
    async setEnabled(id: string, enabled: boolean, actor: string): Promise<ScheduledDeliverableRecord> {
      const changed = await scheduledDeliverables.change(id, (current) => {
        assertFound(current, 'scheduled deliverable', id);
        const isResumed = enabled && !current.enabled;
        return { ...ownFields(current), enabled, ...(isResumed && { updatedBy: actor }) };
      });
      await deliverableSchedules.follow(changed);
      return changed;
    },

    /**
     * Starts a run in the name of the caller.
     *
     * @throws AppError 409 while it is paused, or a run is under way that it may not overlap
     */
    async runNow(id: string, { actor }: AuthContext): Promise<string> {
      const { enabled, overlapPolicy } = await find(id);
      if (!enabled) {
        throw conflict('It is paused; resume it first.', { id, enabled }, 'SCHEDULED_DELIVERABLE_PAUSED');
      }
      const [underWay] = overlapPolicy === 'allow-all' ? [] : await deliverableRuns.runningOf(id);
      const runId = newItemId('recurring_run');
      if (underWay && underWay._id !== runId) {
        const current: DeliverableRun = presentRun(underWay);
        throw conflict(`Run ${current.id} is under way.`, { id, overlapPolicy, current }, 'SCHEDULED_DELIVERABLE_BUSY');
      }
      await deliverableSchedules.start(id, { runId, begin: { trigger: 'manual', startedBy: actor } });
      return runId;
    },
  };
}

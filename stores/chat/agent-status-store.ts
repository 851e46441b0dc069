import type { AgentStatusReport } from '../../contracts/chat/agent-status';
import type { StatusChange } from '../../contracts/tasks/status-history';
import { conflict } from '../../platform/errors/app-error';
import type { Page, PageRequest } from '../../platform/lists/page';
import { newRecordId } from '../../platform/operations/operation';
import type { Database } from '../port/collection';
import { findPage } from '../port/find-page';
import { createSequencer, type Sequenced } from '../port/sequencer';

/** A change of the status, with the newest report that has the new one. */
interface StatusRecord extends Sequenced, Omit<StatusChange, 'id'> {
  /** When the newest report with this status came. */
  seenAt: string;
  /** False once an administrator has cleared the history: the last record stays as the current status. */
  listed: boolean;
  report: AgentStatusReport;
}

/** How long a change is retained after the last report with its status, in days. */
export const statusHistoryDays = 365;

const maxTries = 50;

/**
 * What is reported about agents, and how it changed (specification 1, Agent status). A report with another status than the one
 * before appends a record, any other renews the last record; so the current status and the history are the same records.
 */
export async function createAgentStatusStore(db: Database, now: () => Date = () => new Date()) {
  const records = await db.collection<StatusRecord>({
    name: 'agent-status',
    indexes: [
      { keys: { sequence: 1 }, unique: true },
      { keys: { listed: 1, sequence: -1 } },
      { keys: { listed: 1, timestamp: -1, _id: -1 } },
    ],
    expire: { field: 'seenAt', afterSeconds: statusHistoryDays * 86_400 },
  });
  const sequencer = createSequencer(records);

  /** Appends a change, unless the status is the one before. */
  const appendChange = (report: AgentStatusReport) =>
    sequencer.append((sequence, last) => {
      if (last?.newStatus === report.status) {
        return undefined;
      }
      const timestamp = now().toISOString();
      return {
        _id: newRecordId('status'),
        sequence,
        timestamp,
        previousStatus: last?.newStatus ?? 'idle',
        newStatus: report.status,
        ...(report.activeTask && { taskId: report.activeTask.id }),
        ...(report.activeTask?.title !== undefined && { taskTitle: report.activeTask.title }),
        subAgentCount: report.subAgentCount,
        ...(last && { durationMs: Math.max(0, Date.parse(timestamp) - Date.parse(last.timestamp)) }),
        seenAt: timestamp,
        listed: true,
        report,
      };
    });

  /** Whether the last record has the status of the report, and was renewed with it. */
  async function renewed(report: AgentStatusReport): Promise<boolean> {
    const last = await sequencer.newest();
    if (last?.newStatus !== report.status) {
      return false;
    }
    const seenAt = now().toISOString();
    return (await records.findOneAndUpdate({ _id: last._id }, { $set: { report, seenAt } })) !== undefined;
  }

  return {
    /** The newest report and when it came. */
    async current(): Promise<{ report: AgentStatusReport; at: string } | undefined> {
      const last = await sequencer.newest();
      return last && { report: last.report, at: last.seenAt };
    },

    /** Replaces the current report. @throws AppError 409 while concurrent reports alternate the status */
    async report(report: AgentStatusReport): Promise<void> {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        if ((await appendChange(report)) ?? (await renewed(report))) {
          return;
        }
      }
      throw conflict('The status keeps changing. Try again.', { resourceType: 'agent-status' });
    },

    /** The newest first. */
    async history(part: PageRequest): Promise<Page<StatusChange>> {
      const newestFirst = { key: 'sequence', direction: -1, unique: true } as const;
      return (await findPage(records, { filter: { listed: true }, order: newestFirst }, part)).map(present);
    },

    /** Changes from `start`, until before `end` (ISO times), the oldest first. */
    async between(start: string, end: string, part: PageRequest): Promise<Page<StatusChange>> {
      const filter = { listed: true, timestamp: { $gte: start, $lt: end } };
      return (await findPage(records, { filter, order: { key: 'timestamp', direction: 1 } }, part)).map(present);
    },

    /** The last change before a time. */
    async lastBefore(time: string): Promise<StatusChange | undefined> {
      const filter = { listed: true, timestamp: { $lt: time } };
      return (await records.find(filter, { sort: { timestamp: -1 }, limit: 1 })).map(present)[0];
    },

    /** Clears the history, not the current status. */
    async clear(): Promise<void> {
      const last = await sequencer.newest();
      if (!last) {
        return;
      }
      await records.deleteMany({ sequence: { $lt: last.sequence } });
      await records.updateMany({ sequence: { $lte: last.sequence } }, { $set: { listed: false } });
    },
  };
}

function present({ _id, sequence: _s, seenAt: _a, listed: _l, report: _r, ...change }: StatusRecord): StatusChange {
  return { id: _id, ...change };
}

export type AgentStatusStore = Awaited<ReturnType<typeof createAgentStatusStore>>;

import type { Database, Stored } from '../../../stores/port/collection';

/** So many of one run are stored. */
const keptOfRun = 20;

/** Why a preview is over. */
export const previewEnds = ['exited', 'expired', 'stopped', 'workspace-removed', 'service-ended'] as const;
export type PreviewEnd = (typeof previewEnds)[number];

interface Output {
  text: string;
  bytes: number;
}

/** A program of a run that serves a port for a while. Its URLs are nowhere. */
export interface PreviewRecord extends Stored {
  run_id: string;
  /** The task queue of the host that has it. */
  queue: string;
  port: number;
  command: string[];
  created_by: string;
  status: 'running' | 'ended';
  started_at: string;
  expires_at: string;
  ended_at?: string;
  end?: PreviewEnd;
  /** `null` when it was ended; absent while it runs, and where that is not known. */
  exit_code?: number | null;
  stdout?: Output;
  stderr?: Output;
}

/** The previews of runs, by which their callers read what has become of them. */
export async function createPreviewStore(db: Database) {
  const records = await db.collection<PreviewRecord>({
    name: 'workflow-run-previews',
    indexes: [{ keys: { run_id: 1, _id: -1 } }, { keys: { queue: 1, status: 1 } }],
  });
  return {
    async insert(record: PreviewRecord): Promise<void> {
      await records.insert(record);
      const { run_id } = record;
      const [oldest] = await records.find({ run_id }, { sort: { _id: -1 }, skip: keptOfRun, limit: 1 });
      if (oldest) {
        await records.deleteMany({ run_id, _id: { $lte: oldest._id }, status: 'ended' });
      }
    },
    get: (id: string): Promise<PreviewRecord | undefined> => records.get(id),
    /** The newest first. */
    ofRun: (run_id: string, range: { skip: number; limit: number }): Promise<PreviewRecord[]> =>
      records.find({ run_id }, { sort: { _id: -1 }, ...range }),
    async end(id: string, ended: Pick<PreviewRecord, 'ended_at' | 'end' | 'exit_code' | 'stdout' | 'stderr'>) {
      await records.findOneAndUpdate({ _id: id, status: 'running' }, { $set: { status: 'ended', ...ended } });
    },
    /** Ends what a process of this host has left that is no more. */
    async endLost(queue: string, ended_at: string): Promise<void> {
      await records.updateMany(
        { queue, status: 'running' },
        { $set: { status: 'ended', ended_at, end: 'service-ended' } },
      );
    },
  };
}

export type PreviewStore = Awaited<ReturnType<typeof createPreviewStore>>;

import type { Filter } from 'mongodb';
import type { SkillScanQuery, SkillScanSummary, StoredScan } from '../../../contracts/knowledge/skills/skill-scan';
import { compact } from '../../../platform/json/compact';
import type { Page } from '../../../platform/lists/page';
import type { Database, Stored } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { insertOnce } from '../../port/insert';

interface ScanRecord extends Stored, Omit<StoredScan, 'id'> {
  /** Of the rules that it was made by. */
  rulesVersion: number;
}

/** How long scans are retained, in days. */
const retentionDays = 180;
/** Of one path the newest are retained. */
const maxOfPath = 20;

function summary({
  _id,
  files: _files,
  findings: _findings,
  findingsTruncated: _truncated,
  rulesVersion: _rules,
  ...scan
}: ScanRecord): SkillScanSummary {
  return { id: _id, ...scan };
}

/** Scans of skills, as they were found at their time. */
export async function createSkillScanStore(db: Database) {
  const newest = { scannedAt: -1, _id: -1 } as const;
  const scans = await db.collection<ScanRecord>({
    name: 'skill-scans',
    indexes: [
      { keys: newest },
      { keys: { path: 1, ...newest } },
      { keys: { skillId: 1, ...newest } },
      { keys: { recommendation: 1, ...newest } },
      { keys: { skillId: 1, recommendation: 1, ...newest } },
    ],
    expire: { field: 'scannedAt', afterSeconds: retentionDays * 86_400 },
  });

  return {
    /** Stores a scan once, and removes the oldest of its path beyond those that are retained. */
    async add({ id, ...scan }: StoredScan, rulesVersion: number): Promise<void> {
      await insertOnce(scans, { _id: id, ...scan, rulesVersion });
      const past = await scans.find({ path: scan.path }, { sort: newest, skip: maxOfPath, limit: 100 });
      for (const { _id } of past) {
        await scans.deleteMany({ _id });
      }
    },

    async get(id: string): Promise<StoredScan | undefined> {
      const record = await scans.get(id);
      if (!record) {
        return undefined;
      }
      const { _id, rulesVersion: _rules, ...scan } = record;
      return { id: _id, ...scan };
    },

    /** The newest scan of a whole skill. */
    async newestOf(
      path: string,
    ): Promise<(Pick<ScanRecord, 'digest' | 'rulesVersion' | 'scannedAt'> & { id: string }) | undefined> {
      const found = await scans.find({ path }, { sort: newest, limit: maxOfPath });
      const whole = found.find(({ includeReferencedFiles }) => includeReferencedFiles);
      return (
        whole && { id: whole._id, digest: whole.digest, rulesVersion: whole.rulesVersion, scannedAt: whole.scannedAt }
      );
    },

    /** The newest first. */
    async list({ skillId, recommendation, ...part }: SkillScanQuery): Promise<Page<SkillScanSummary>> {
      const equal = compact({ skillId, recommendation });
      const filter = (Object.keys(equal).length > 0 ? equal : { scannedAt: { $gt: '' } }) as Filter<ScanRecord>;
      return (await findPage(scans, { filter, order: { key: 'scannedAt', direction: -1 } }, part)).map(summary);
    },
  };
}

export type SkillScanStore = Awaited<ReturnType<typeof createSkillScanStore>>;

import type { PromptStats, PromptUsage } from '../../contracts/knowledge/prompt';
import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import { createRedactor } from '../../platform/log/redact';
import { newRecordId, operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce } from '../port/insert';

type UsageRecord = Stored & Omit<PromptUsage, 'id'> & { uid: string };

/** How long a use is retained, in days. */
export const promptUsageRetentionDays = 90;

const redact = createRedactor();

const present = ({ _id, uid: _uid, ...usage }: UsageRecord): PromptUsage => ({ id: _id, ...usage });

/** Sums over uses, as far as there are any. */
export type UsageSums = Pick<PromptStats, 'uses' | 'inputTokens' | 'outputTokens' | 'lastUsedAt'>;

/** Uses of prompts, by the prompt's `uid`: those of a deleted prompt are not those of a new one with its id. */
export async function createPromptUsageStore(db: Database) {
  const newest = { usedAt: -1, _id: -1 } as const;
  const uses = await db.collection<UsageRecord>({
    name: 'prompt-usage',
    indexes: [{ keys: { uid: 1, ...newest } }],
    expire: { field: 'usedAt', afterSeconds: promptUsageRetentionDays * 86_400 },
  });

  return {
    /** Records a use now; what looks like a secret in its text is not stored. */
    async record({
      renderedPrompt,
      ...usage
    }: Omit<PromptUsage, 'id' | 'usedAt'> & { uid: string }): Promise<PromptUsage> {
      const text = renderedPrompt === undefined ? undefined : redact(renderedPrompt);
      const usedAt = operationTime().toISOString();
      const record: UsageRecord = compact({ ...usage, renderedPrompt: text, usedAt, _id: newRecordId('usage') });
      await insertOnce(uses, record);
      return present(record);
    },

    /** The newest first. */
    async list(uid: string, part: PageRequest): Promise<Page<PromptUsage>> {
      const filter = { uid, usedAt: { $gt: '' } };
      return (await findPage(uses, { filter, order: { key: 'usedAt', direction: -1 } }, part)).map(present);
    },

    async sums(uid: string): Promise<UsageSums> {
      const [sum] = await uses.aggregate([
        { $match: { uid } },
        {
          $group: {
            _id: '$uid',
            uses: { $sum: 1 },
            inputTokens: { $sum: '$inputTokens' },
            outputTokens: { $sum: '$outputTokens' },
            lastUsedAt: { $max: '$usedAt' },
          },
        },
      ]);
      return {
        uses: Number(sum?.uses ?? 0),
        inputTokens: Number(sum?.inputTokens ?? 0),
        outputTokens: Number(sum?.outputTokens ?? 0),
        lastUsedAt: sum === undefined ? null : String(sum.lastUsedAt),
      };
    },
  };
}

import type { Filter } from 'mongodb';
import {
  type ErrorAnalysis,
  type ErrorAnalysisPatch,
  type ErrorAnalysisQuery,
  type ErrorStats,
  errorType as errorTypes,
  severity as severities,
} from '../../contracts/knowledge/error';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { isSameJson } from '../../platform/json/same';
import type { Page, PageRequest } from '../../platform/lists/page';
import { searchPage } from '../../platform/lists/search';
import type { Database, Stored } from '../port/collection';
import { StaleRevisionError } from '../port/errors';
import { findPage } from '../port/find-page';
import { insertOnce } from '../port/insert';

/** `occurrence` is 1, 2, 3 … for the same fingerprint. */
type ErrorRecord = Stored & Omit<ErrorAnalysis, 'id' | 'isRepeat' | 'previousOccurrences'> & { occurrence: number };

/** An error to store; its severity may depend on the number of its earlier occurrences. */
export type NewErrorAnalysis = Omit<ErrorAnalysis, 'isRepeat' | 'previousOccurrences' | 'relatedTasks' | 'severity'> & {
  severity: (previousOccurrences: number) => ErrorAnalysis['severity'];
};

/** How many errors one request of a search looks through. */
export const searchedErrors = 2_000;

const newestFirst = { key: 'analyzedAt', direction: -1 } as const;

/** How many earlier ones of the same kind are read for the tasks they belong to. */
const relatedLookedAt = 50;
const relatedNamed = 10;

/** Submissions of one error at once do not stay in each other's way for longer than this. */
const maxTries = 100;

const present = ({ _id, occurrence, ...analysis }: ErrorRecord): ErrorAnalysis => ({
  id: _id,
  ...analysis,
  isRepeat: occurrence > 1,
  previousOccurrences: occurrence - 1,
});

/** Errors that work ended in (specification 1, Registries and analysis). */
export async function createErrorAnalysisStore(db: Database) {
  const newest = { analyzedAt: -1, _id: -1 } as const;
  const records = await db.collection<ErrorRecord>({
    name: 'error-analyses',
    indexes: [
      { keys: { fingerprint: 1, occurrence: 1 }, unique: true },
      { keys: { 'context.taskId': 1, ...newest } },
      { keys: { 'context.agent': 1, ...newest } },
      { keys: { 'context.errorType': 1, ...newest } },
      { keys: { severity: 1, ...newest } },
      { keys: newest },
    ],
  });
  const all: Filter<ErrorRecord> = { analyzedAt: { $gt: '' } };

  async function countBy(field: string, values: readonly string[]): Promise<Record<string, number>> {
    const counts = await Promise.all(values.map((value) => records.count({ ...all, [field]: value })));
    return Object.fromEntries(values.flatMap((value, at) => ((counts[at] ?? 0) > 0 ? [[value, counts[at] ?? 0]] : [])));
  }

  return {
    /**
     * Stores an error as the next occurrence of its fingerprint: of several at once, in any process, each is counted.
     *
     * @throws AppError 503 when very many of the same are submitted at once
     */
    async add({ id, severity, ...analysis }: NewErrorAnalysis): Promise<ErrorAnalysis> {
      const { fingerprint, context } = analysis;
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const earlier = await records.find({ fingerprint }, { sort: { occurrence: -1 }, limit: relatedLookedAt });
        const previous = earlier[0]?.occurrence ?? 0;
        const tasks = new Set(earlier.flatMap((one) => one.context.taskId ?? []));
        if (context.taskId !== undefined) {
          tasks.delete(context.taskId);
        }
        const record = {
          _id: id,
          ...analysis,
          severity: severity(previous),
          relatedTasks: [...tasks].slice(0, relatedNamed),
          occurrence: previous + 1,
        };
        if (await insertOnce(records, record)) {
          return present(record);
        }
      }
      throw new AppError('STORE_UNAVAILABLE', {
        status: 503,
        message: 'Too many concurrent reports of the same error. Try again.',
      });
    },

    async get(id: string): Promise<ErrorAnalysis | undefined> {
      const record = await records.get(id);
      return record && present(record);
    },

    /** The newest first. */
    async list({ taskId, agent, errorType, severity, ...part }: ErrorAnalysisQuery): Promise<Page<ErrorAnalysis>> {
      const filter = compact({
        'context.taskId': taskId,
        'context.agent': agent,
        'context.errorType': errorType,
        severity,
        ...all,
      }) as Filter<ErrorRecord>;
      return (await findPage(records, { filter, order: newestFirst }, part)).map(present);
    },

    /** Those that `matches` finds, the newest first; one request looks through {@link searchedErrors}. */
    search(matches: (analysis: ErrorAnalysis) => boolean, part: PageRequest): Promise<Page<ErrorAnalysis>> {
      const read = async (of: PageRequest) =>
        (await findPage(records, { filter: all, order: newestFirst }, of)).map(present);
      const hitOf = (analysis: ErrorAnalysis) => (matches(analysis) ? analysis : undefined);
      const positionOf = ({ id, analyzedAt }: ErrorAnalysis) => ({ key: analyzedAt, id });
      return searchPage({ read, hitOf, positionOf, most: searchedErrors }, part);
    },

    /**
     * What people know better than the rules; `undefined` when there is no such error.
     *
     * @throws StaleRevisionError when it is at another revision than expected
     */
    async change(id: string, patch: ErrorAnalysisPatch, expected?: number): Promise<ErrorAnalysis | undefined> {
      const { chosenFix, ...fields } = patch;
      const before = await records.get(id);
      const isCurrent = expected === undefined || before?.revision === expected;
      if (before && isCurrent && isSameJson({ ...before, ...patch }, before)) {
        return present(before);
      }
      const changed = await records.findOneAndUpdate(
        { _id: id, ...(expected === undefined ? {} : { revision: expected }) },
        {
          $set: compact({ ...fields, chosenFix }) as Partial<ErrorRecord>,
          ...('chosenFix' in patch && chosenFix === undefined ? { $unset: { chosenFix: '' } } : {}),
          $inc: { revision: 1 },
        },
      );
      const current = changed || expected === undefined ? undefined : await records.get(id);
      if (current && expected !== undefined) {
        const { revision } = current;
        throw new StaleRevisionError('error-analyses', id, {
          expectedRevision: expected,
          current: { revision, shown: present(current) },
        });
      }
      return changed && present(changed);
    },

    /** How many there are, and of what. */
    async stats(): Promise<ErrorStats> {
      const [total, first, byType, bySeverity] = await Promise.all([
        records.count(all),
        records.count({ ...all, occurrence: 1 }),
        countBy('context.errorType', errorTypes.options),
        countBy('severity', severities.options),
      ]);
      return { total, byType, bySeverity, repeats: total - first };
    },
  };
}

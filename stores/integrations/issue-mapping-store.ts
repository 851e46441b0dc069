import type { Filter } from 'mongodb';
import type { IssueMapping } from '../../contracts/integrations/issue-sync';
import type { SyncBase } from '../../domain/issue-sync/compare';
import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { DuplicateKeyError } from '../port/errors';
import { findPage } from '../port/find-page';
import { setAndUnset } from './set-and-unset';

/** What a mapping was last changed by; `round` names one round of a synchronisation. */
export interface MappingChange {
  round: string;
  kind: 'imported' | 'exported' | 'updated';
}

/** What could not be done in a round. */
export interface MappingProblem {
  code: string;
  message: string;
  at: string;
  round: string;
}

/** The comments that both sides have: by their ids at the forge, and those that were sent by their ids here. */
export interface SyncedComments {
  carried: string[];
  sent: string[];
  /** The one that is being created at the forge; `nonce` is what its marker holds. */
  sending?: { commentId: string; nonce: string } | undefined;
}

/** A mapping as it is stored, under the id of its task: a task has one at most. */
export interface MappingRecord {
  taskId: string;
  repo: string;
  repository: string;
  /** `github:owner/name`: the repository at its forge, whatever it is called here. */
  scope: string;
  issueNumber: number | null;
  url: string | null;
  origin: IssueMapping['origin'];
  state: IssueMapping['state'];
  revision: number;
  createdAt: string;
  /** Of an issue that is created for a task: what its marker holds. */
  nonce?: string;
  base?: SyncBase;
  /** The issue and the task as they were compared last. */
  issueUpdatedAt?: string;
  taskRevision?: number;
  syncedAt?: string;
  change?: MappingChange;
  comments?: SyncedComments;
  conflict?: { fields: string[]; at: string };
  problem?: MappingProblem;
  /** Whether there is a problem that is tried again: what an index is asked for. */
  failed: boolean;
}

type MappingDocument = Stored & Omit<MappingRecord, 'taskId'> & { issueKey: string };
export type NewMapping = Omit<MappingRecord, 'revision' | 'failed'>;

/** Another writer has changed the mapping since it was read. */
export class StaleMappingError extends Error {
  override readonly name = 'StaleMappingError';
}

/** Unique, also for the mappings that have no issue yet. */
const issueKeyOf = (scope: string, issueNumber: number | null, taskId: string): string =>
  issueNumber === null ? `${scope} task ${taskId}` : `${scope}#${issueNumber}`;

/** The issues of tasks: at most one of each. A mapping is written before what it is about, and never removed. */
export async function createIssueMappingStore(db: Database) {
  const mappings = await db.collection<MappingDocument>({
    name: 'issue-mappings',
    indexes: [
      { keys: { issueKey: 1 }, unique: true },
      { keys: { scope: 1, _id: 1 } },
      { keys: { scope: 1, failed: 1, 'problem.at': 1 } },
      { keys: { 'change.round': 1, 'change.kind': 1 } },
      { keys: { 'problem.round': 1 } },
    ],
  });

  return {
    get: async (taskId: string): Promise<MappingRecord | undefined> => recordOf(await mappings.get(taskId)),

    async ofIssue(scope: string, issueNumber: number): Promise<MappingRecord | undefined> {
      const [found] = await mappings.find({ issueKey: issueKeyOf(scope, issueNumber, '') }, { limit: 1 });
      return recordOf(found);
    },

    /** The mappings of these tasks, by the id of the task. */
    async ofTasks(taskIds: readonly string[]): Promise<Map<string, MappingRecord>> {
      const found = await mappings.find({ _id: { $in: [...taskIds] } });
      return new Map(found.map((document) => [document._id, toRecord(document)]));
    },

    /** Writes a mapping; `undefined` when the task or the issue has one already. */
    async add(mapping: NewMapping): Promise<MappingRecord | undefined> {
      const { taskId, ...fields } = mapping;
      const issueKey = issueKeyOf(mapping.scope, mapping.issueNumber, taskId);
      const document = { ...compact(fields), _id: taskId, issueKey, revision: 1, failed: fields.problem !== undefined };
      try {
        await mappings.insert(document);
        return toRecord(document);
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) {
          throw error;
        }
        return undefined;
      }
    },

    /**
     * Changes a mapping as it was read; a field that is `undefined` is removed.
     *
     * @throws StaleMappingError, DuplicateKeyError when another task has the issue
     */
    async change(current: MappingRecord, change: Partial<NewMapping>): Promise<MappingRecord> {
      const { taskId, scope } = current;
      const removed = Object.keys(change).filter((name) => change[name as keyof NewMapping] === undefined);
      const issueNumber = change.issueNumber ?? current.issueNumber;
      const { state, problem } = { ...current, ...change };
      const failed = problem !== undefined && state !== 'detached';
      const set = {
        ...compact({ ...change, taskId: undefined }),
        issueKey: issueKeyOf(scope, issueNumber, taskId),
        failed,
        revision: current.revision + 1,
      };
      const update = setAndUnset(set, removed);
      const written = await mappings.findOneAndUpdate({ _id: taskId, revision: current.revision }, update as never);
      if (!written) {
        throw new StaleMappingError(`The mapping of ${taskId} has another revision than ${current.revision}.`);
      }
      return toRecord(written);
    },

    /** The mappings with a problem that was met before this moment, the oldest first. */
    async failedBefore(scope: string, at: string, limit: number): Promise<MappingRecord[]> {
      const filter = { scope, failed: true, 'problem.at': { $lt: at } } as Filter<MappingDocument>;
      const found = await mappings.find(filter, { sort: { 'problem.at': 1 }, limit });
      return found.map(toRecord);
    },

    async list(scope: string, page: PageRequest): Promise<Page<IssueMapping>> {
      const order = { key: '_id', direction: 1, unique: true } as const;
      return (await findPage(mappings, { filter: { scope }, order }, page)).map((one) => present(toRecord(one)));
    },

    count: (scope: string): Promise<number> => mappings.count({ scope }),
    countFailed: (scope: string): Promise<number> => mappings.count({ scope, failed: true }),

    /** What a round has done, by what it wrote: the same however often its steps were repeated. */
    async countRound(round: string) {
      const of = (kind: MappingChange['kind']) => mappings.count({ 'change.round': round, 'change.kind': kind });
      const [imported, exported, updated, errors] = await Promise.all([
        of('imported'),
        of('exported'),
        of('updated'),
        mappings.count({ 'problem.round': round }),
      ]);
      return { imported, exported, updated, errors };
    },
  };
}

export type IssueMappingStore = Awaited<ReturnType<typeof createIssueMappingStore>>;

const toRecord = ({ _id, issueKey: _key, ...record }: MappingDocument): MappingRecord => ({ taskId: _id, ...record });
const recordOf = (document: MappingDocument | undefined): MappingRecord | undefined => document && toRecord(document);

const present = (record: MappingRecord): IssueMapping => ({
  taskId: record.taskId,
  repo: record.repo,
  repository: record.repository,
  issueNumber: record.issueNumber,
  url: record.url,
  origin: record.origin,
  state: record.state,
  syncedAt: record.syncedAt ?? null,
  conflict: record.conflict ?? null,
  problem: record.problem
    ? { code: record.problem.code, message: record.problem.message, at: record.problem.at }
    : null,
});

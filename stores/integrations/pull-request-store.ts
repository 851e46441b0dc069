import type { Filter } from 'mongodb';
import type {
  PullRequestCreate,
  PullRequestReviewState,
  StoredPullRequest,
} from '../../contracts/integrations/pull-request';
import type { Refusal } from '../../contracts/refusal';
import { isSameJson } from '../../platform/json/same';
import type { Database, Stored } from '../port/collection';
import { insertOnce } from '../port/insert';

/** What was requested. Titles and bodies are here, and in no history of a workflow. */
export interface PullRequestOperation extends Omit<PullRequestCreate, 'taskId'> {
  id: string;
  /** `publish` pushes and creates or updates; `open` opens what is closed or a draft; `refresh` reads. */
  kind: 'publish' | 'open' | 'refresh';
  actor: string;
  at: string;
  /** Whether its workflow has begun: until then another request may replace it. */
  begun: boolean;
}

/** The pull request of a task. The operation under way is written down before anything is done. */
export interface PullRequestRecord extends Stored {
  /** Changes with every write: what was decided on a record is written only to that. */
  revision: number;
  operation: PullRequestOperation | null;
  /** How the operation before ended, for a request whose response was lost. */
  last: { id: string; refused: Refusal | null } | null;
  /** The configured repository, and the forge and repository that `pull` is of. */
  repo: string | null;
  forge: { kind: 'github' | 'gitlab'; baseUrl: string; repository: string } | null;
  pull: StoredPullRequest | null;
  refreshedAt: string | null;
  /** Of this pull request; absent until it was read. */
  review?: PullRequestReviewState | null;
  /** Comments of reviewers that became comments of the task: one that a person deletes here does not come back. */
  imported?: string[];
  /** What was pushed last from here, and what is about to be: nothing else at the forge is ever overwritten. */
  pushed: { branch: string; sha: string } | null;
  pushing: { branch: string; sha: string } | null;
  /** When a refresh of it began last. */
  polledAt?: string;
  /** When the forge has announced a change that was not read yet. */
  staleAt?: string | null;
  /** Why the last refresh could not read it; `null` once one could. */
  unread?: { code: string; message: string; at: string } | null;
  updatedAt: string;
}

type Change = Partial<Omit<PullRequestRecord, '_id' | 'revision' | 'updatedAt'>>;

const contentOf = ({ id: _id, at: _at, begun: _begun, ...content }: PullRequestOperation) => content;

export async function createPullRequestStore(db: Database, now: () => Date = () => new Date()) {
  const pulls = await db.collection<PullRequestRecord>({
    name: 'pull-requests',
    indexes: [{ keys: { repo: 1, 'pull.state': 1, polledAt: 1 } }],
  });
  /** A path of the index that the type of a filter does not name. */
  const openOf = (repo: string, filter: object = {}) =>
    ({ repo, 'pull.state': 'open', ...filter }) as Filter<PullRequestRecord>;
  const change = (read: PullRequestRecord, fields: Change): Promise<PullRequestRecord | undefined> =>
    pulls.findOneAndUpdate(
      { _id: read._id, revision: read.revision },
      { $set: { ...fields, updatedAt: now().toISOString() }, $inc: { revision: 1 } },
    );

  return {
    get: (taskId: string) => pulls.get(taskId),

    /** The open pull requests of a repository whose last refresh is the longest ago; those that never had one come first. */
    open: (repo: string, limit: number): Promise<PullRequestRecord[]> =>
      pulls.find(openOf(repo), { sort: { polledAt: 1 }, limit }),

    /** The open pull requests of a repository of which the forge has announced a change, in the same order. */
    stale: (repo: string, limit: number): Promise<PullRequestRecord[]> =>
      pulls.find(openOf(repo, { staleAt: { $gt: '' } }), { sort: { polledAt: 1 }, limit }),

    /** How many open pull requests of a repository the last refresh could not read, and the first of them in the same order. */
    async unread(repo: string, limit: number): Promise<{ total: number; records: PullRequestRecord[] }> {
      const filter = openOf(repo, { 'unread.code': { $gt: '' } });
      const [total, records] = await Promise.all([
        pulls.count(filter),
        pulls.find(filter, { sort: { polledAt: 1 }, limit }),
      ]);
      return { total, records };
    },

    /** How many open pull requests of a repository had a refresh since this moment. */
    countPolled: (repo: string, since: string): Promise<number> =>
      pulls.count(openOf(repo, { polledAt: { $gte: since } })),

    /**
     * Records that the forge has announced a change of these pull requests, and returns whether one of them is an open one of a
     * task. It is no revision: an operation under way is not disturbed.
     */
    async announce(repo: string, { numbers, commits }: { numbers: number[]; commits: string[] }): Promise<boolean> {
      const filters = [
        ...(numbers.length > 0 ? [openOf(repo, { 'pull.number': { $in: numbers } })] : []),
        ...(commits.length > 0 ? [openOf(repo, { 'pull.headSha': { $in: commits } })] : []),
      ];
      const counts = await Promise.all(
        filters.map(async (filter) => {
          await pulls.updateMany(filter, { $set: { staleAt: now().toISOString() } });
          return pulls.count(filter);
        }),
      );
      return counts.some((count) => count > 0);
    },

    /** Changes a record from exactly the revision that was read; `undefined` when it is another by now. */
    change,

    /**
     * Writes an operation down, or joins the same one.
     *
     * @param replaces which other operation is replaced: one that has not begun unless it states otherwise
     * @returns the operation of the task, which is another one where that is under way
     */
    async request(
      taskId: string,
      operation: PullRequestOperation,
      replaces: (current: PullRequestOperation) => boolean = ({ begun }) => !begun,
    ): Promise<PullRequestOperation> {
      for (;;) {
        const read = await pulls.get(taskId);
        if (!read) {
          const empty = {
            last: null,
            repo: null,
            forge: null,
            pull: null,
            refreshedAt: null,
            pushed: null,
            pushing: null,
          };
          const document = { _id: taskId, revision: 1, operation, ...empty, updatedAt: operation.at };
          if (await insertOnce(pulls, document)) {
            return operation;
          }
          continue;
        }
        const current = read.operation;
        if (current && (isSameJson(contentOf(current), contentOf(operation)) || !replaces(current))) {
          return current;
        }
        if (await change(read, { operation })) {
          return operation;
        }
      }
    },
  };
}

export type PullRequestStore = Awaited<ReturnType<typeof createPullRequestStore>>;

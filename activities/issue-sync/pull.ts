import { createHash } from 'node:crypto';
import type { ForgeIssue } from '../../contracts/integrations/forge';
import { isInbound } from '../../domain/issue-sync/compare';
import { markerIn } from '../../domain/issue-sync/issue-text';
import { ForgeError } from '../../providers/forges/forge-error';
import type { MappingRecord, NewMapping } from '../../stores/integrations/issue-mapping-store';
import { detach, issueGone, syncPair } from './sync-pair';
import { isHere, readIssue, retryBefore, type SyncRun, tasksIn } from './sync-run';

/** What was changed this long before the last issue that was read is read again: forges list late what they have at once. */
const overlapMs = 60_000;
const maxRetries = 100;

/** Reads the issues that were changed since the last time, and makes their tasks equal. */
export async function pullIssues(run: SyncRun): Promise<void> {
  const reader = createReader(run);
  // Every issue is read once more when its comments are to be read too.
  const comments = run.commentsSince === undefined ? [] : ['', 'comments'];
  const cursorOf = [run.scope, ...run.labels, ...comments].join(',');
  const progress = await run.issueSyncs.progressOf(run.repo);
  let since = progress.cursorOf === cursorOf ? earlier(progress.cursor, overlapMs) : undefined;
  for (;;) {
    const last = await readFrom(run, { since, cursorOf, importIssue: reader.importIssue });
    if (last === undefined) {
      return;
    }
    since = last;
  }
}

const earlier = (at: string | undefined, byMs: number): string | undefined =>
  at === undefined ? undefined : new Date(Date.parse(at) - byMs).toISOString();

/**
 * Reads pages until there is none, or until one ends later than it began: an issue that is changed meanwhile moves to the end,
 * and those behind it to the page before. The next list begins where that page ended.
 *
 * @returns where to read on; `undefined` at the end
 */
async function readFrom(
  run: SyncRun,
  { since, cursorOf, importIssue }: { since: string | undefined; cursorOf: string; importIssue: Import },
): Promise<string | undefined> {
  const pages = run.forge.issues({ labels: run.labels, since })[Symbol.asyncIterator]();
  let last: string | undefined;
  for (let step = await pages.next(); !step.done; step = await pages.next()) {
    if (last !== undefined) {
      return last;
    }
    for (const issue of step.value) {
      run.signal.throwIfAborted();
      await importIssue(issue);
    }
    const end = step.value.at(-1)?.updatedAt;
    if (end !== undefined && (since === undefined || end > since)) {
      // A clock that is ahead must not have later issues passed over.
      const now = run.now().toISOString();
      await run.issueSyncs.moveCursor(run.repo, { cursorOf, cursor: end < now ? end : now });
      last = end;
    }
  }
  return undefined;
}

type Import = (issue: ForgeIssue) => Promise<void>;

function createReader(run: SyncRun) {
  const { issueMappings, scope } = run;
  let taskOfIssue: Map<number, string> | undefined;
  let login: Promise<string | undefined> | undefined;

  /** The tasks that name issues of this repository by themselves. */
  const namedBy = (number: number): string | undefined => {
    taskOfIssue ??= new Map(
      [...tasksIn(run.board, ['active', 'backlog']).map(({ task }) => task), ...run.board.inArchive()]
        .filter(({ github, deletedAt }) => isHere(run, github?.repo) && deletedAt === undefined)
        .map(({ id, github }) => [github?.issueNumber ?? 0, id]),
    );
    return taskOfIssue.get(number);
  };
  /** The account of the token; unknown for tokens that have none. */
  const ownLogin = (): Promise<string | undefined> =>
    (login ??= run.forge.check().then(
      (account) => account.login,
      (error: unknown) => {
        if (error instanceof ForgeError && error.code !== 'unavailable' && error.code !== 'rate-limited') {
          return undefined;
        }
        throw error;
      },
    ));

  /** The mapping of an issue that was created here for a task; `copy` for a second one, which is not imported. */
  async function createdHere(issue: ForgeIssue): Promise<MappingRecord | 'copy' | undefined> {
    const marker = markerIn(issue.body);
    const mapping = marker && (await issueMappings.get(marker.taskId));
    if (!mapping || mapping.scope !== scope || mapping.nonce !== marker.nonce) {
      return undefined;
    }
    if (mapping.issueNumber === null) {
      return issueMappings.change(mapping, { issueNumber: issue.number, url: issue.url.slice(0, 2_000) });
    }
    // A marker can be read and copied once its issue exists.
    if (issue.author !== (await ownLogin())) {
      return undefined;
    }
    const message = `Issue ${issue.number} was created for the task as well as ${mapping.issueNumber}. Close one of them.`;
    const at = run.now().toISOString();
    await issueMappings.change(mapping, { problem: { code: 'DUPLICATE_ISSUE', message, at, round: run.round } });
    return 'copy';
  }

  async function importIssue(issue: ForgeIssue): Promise<void> {
    const mapping = await issueMappings.ofIssue(scope, issue.number);
    if (mapping) {
      const isNewlyCommented = run.commentsSince !== undefined && mapping.comments === undefined;
      if (mapping.state === 'creating' || mapping.issueUpdatedAt !== issue.updatedAt || isNewlyCommented) {
        const kind = mapping.state !== 'creating' ? 'updated' : mapping.origin === 'issue' ? 'imported' : 'exported';
        await syncPair(run, { mapping, issue, fresh: false, kind });
      }
      return;
    }
    const created = await createdHere(issue);
    if (created === 'copy') {
      return;
    }
    if (created) {
      await syncPair(run, { mapping: created, issue, fresh: false, kind: 'exported' });
      return;
    }
    const taskId = namedBy(issue.number);
    // What was closed before it was seen is not brought in.
    if (taskId === undefined && issue.state === 'closed') {
      return;
    }
    const added = await issueMappings.add(newMapping(run, issue, taskId));
    if (added) {
      await syncPair(run, { mapping: added, issue, fresh: false, kind: taskId === undefined ? 'imported' : 'updated' });
    }
  }
  return { importIssue };
}

/** The id of the task that is created for an issue: every try creates the same one. */
const importedTaskId = (scope: string, number: number): string =>
  `task_issue_${number}_${createHash('sha256').update(`${scope}#${number}`).digest('hex').slice(0, 12)}`;

/** @param taskId of a task that names the issue; one is created for it when absent */
export const newMapping = (
  { repo, repository, scope, now }: SyncRun,
  { number, url }: Pick<ForgeIssue, 'number' | 'url'>,
  taskId?: string,
): NewMapping => ({
  taskId: taskId ?? importedTaskId(scope, number),
  repo,
  repository,
  scope,
  issueNumber: number,
  url: url.slice(0, 2_000),
  origin: taskId === undefined ? 'issue' : 'task',
  state: taskId === undefined ? 'creating' : 'linked',
  createdAt: now().toISOString(),
});

/** Tries again what could not be done some time ago. */
export async function retryProblems(run: SyncRun): Promise<void> {
  const failed = await run.issueMappings.failedBefore(run.scope, retryBefore(run.now()), maxRetries);
  for (const mapping of failed) {
    run.signal.throwIfAborted();
    const isNew = mapping.state === 'creating' && mapping.origin === 'issue';
    if (mapping.issueNumber === null || (isNew && !isInbound(run.mode))) {
      continue;
    }
    const issue = await readIssue(run.forge, mapping.issueNumber);
    if (!issue) {
      await detach(run, mapping, issueGone);
    } else {
      await syncPair(run, { mapping, issue, fresh: true, kind: isNew ? 'imported' : 'updated' });
    }
  }
}

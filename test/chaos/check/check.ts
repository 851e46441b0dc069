import type { Answer } from '../../support/caller';
import { git } from '../../support/git/repository';
import type { Service } from '../../support/stack/service';
import type { AgentLine, Ledger, Line } from '../ledger';
import { byAttempt, problemsOfAgents } from './agents';
import { problemsOfAttempt } from './attempts';
import { problemsOfLeftovers } from './leftovers';

type Json = Answer['body'];

export interface Checked {
  problems: string[];
  attempts: Json[];
}

/**
 * What is wrong when everything has ended. It knows the ledger that agents and callers wrote, the service's responses over
 * HTTP, and git; nothing of the service's own code or stores.
 */
export async function check(service: Service, ledger: Ledger, repository: string): Promise<Checked> {
  const lines = ledger.read();
  const written = byAttempt(lines);
  const problems = problemsOfAgents(lines);
  const attempts: Json[] = [];
  const tasks = new Set(lines.flatMap((line) => (line.by === 'caller' && line.task !== undefined ? [line.task] : [])));
  for (const task of tasks) {
    const found = await problemsOfTask(service, task, lines, written);
    problems.push(...found.problems);
    attempts.push(...found.attempts);
  }
  const known = new Set(attempts.map(({ id }) => id));
  for (const attempt of written.keys()) {
    if (!known.has(attempt)) {
      problems.push(`${attempt}: no record of it`);
    }
  }
  problems.push(...(await problemsOfCommits(repository, attempts, written)));
  problems.push(...(await problemsOfCreates(service, lines)));
  problems.push(...(await problemsOfLeftovers(service, ledger.file)));
  const fsck = await git(repository, 'fsck', '--no-dangling').catch((error: unknown) => String(error));
  if (fsck !== '') {
    problems.push(`git fsck: ${fsck.slice(0, 500)}`);
  }
  return { problems, attempts };
}

async function problemsOfTask(
  { call }: Service,
  taskId: string,
  lines: readonly Line[],
  written: ReadonlyMap<string, AgentLine[]>,
): Promise<Checked> {
  // The newest first.
  const { attempts } = (await call.ok('GET', `/api/agents/${taskId}/attempts`)) as { attempts: Json[] };
  const problems: string[] = [];
  for (const attempt of attempts) {
    const events = await call.events(taskId, attempt.id);
    problems.push(...problemsOfAttempt(attempt, events, written.get(attempt.id) ?? []));
  }
  const ofCallers = lines.filter((line) => line.by === 'caller' && line.task === taskId);
  for (const { what, attempt } of ofCallers as { what: string; attempt?: string }[]) {
    if (attempt === undefined) {
      continue;
    }
    if (!attempts.some(({ id }) => id === attempt)) {
      problems.push(`${attempt}: it was acknowledged and is not there`);
    }
    if (what === 'cancelled' && written.has(attempt)) {
      problems.push(`${attempt}: it was cancelled, and has run`);
    }
  }
  const task = await call.ok('GET', `/api/tasks/${taskId}`);
  const decided = lines.findLast((line) => line.by === 'caller' && line.what === 'decided' && line.task === taskId);
  const last = attempts.find(({ state }) => state !== 'refused');
  if (decided !== undefined) {
    const { status } = decided as { status?: string };
    if (task.status !== status) {
      problems.push(`${taskId}: a person made it ${status}, and it is ${task.status}`);
    }
  } else if ((task.status === 'done') !== (last?.completion?.status === 'success')) {
    problems.push(`${taskId}: it is ${task.status} after ${last?.completion?.status}`);
  }
  return { problems, attempts };
}

/** What a run that succeeded committed is on a branch. */
async function problemsOfCommits(
  repository: string,
  attempts: Json[],
  written: ReadonlyMap<string, AgentLine[]>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { id, completion } of attempts) {
    if (completion?.status !== 'success') {
      continue;
    }
    for (const { what, sha, task } of written.get(id) ?? []) {
      if (what !== 'commit' || sha === undefined) {
        continue;
      }
      const branches = await git(repository, 'for-each-ref', '--format=%(refname)', '--contains', sha, 'refs/heads');
      if (!branches.split('\n').some((branch) => branch.includes(task))) {
        problems.push(`${id}: its commit ${sha} is not on the branch of ${task}`);
      }
    }
  }
  return problems;
}

/** Every task that was acknowledged is there once, and none that was asked for is there twice. */
async function problemsOfCreates({ call }: Service, lines: readonly Line[]): Promise<string[]> {
  const titles: string[] = ((await call.ok('GET', '/api/tasks')) as { tasks: { title: string }[] }).tasks.map(
    ({ title }) => title,
  );
  const count = (title: string): number => titles.filter((each) => each === title).length;
  return lines.flatMap((line) => {
    if (line.by !== 'caller' || line.title === undefined) {
      return [];
    }
    const times = count(line.title);
    if (line.what === 'created' && times !== 1) {
      return [`"${line.title}" was created, and is there ${times} times`];
    }
    return line.what === 'create-sent' && times > 1
      ? [`"${line.title}" was asked for once, and is there ${times} times`]
      : [];
  });
}

import { existsSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findByEnvironment } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { Answer } from '../../support/caller';
import { type GitHttp, gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { type GitBreakpoints, gitBreakpoints } from '../../support/git/git-breakpoints';
import { aRepository, git } from '../../support/git/repository';
import { persistently } from '../../support/processes/persistently';
import { exampleAgent } from '../../support/runs/example-agent';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

const steps = ['connect', 'run', 'diff', 'comment', 'send back', 'pull request', 'accept'] as const;
type Step = (typeof steps)[number];

interface Point {
  step: Step;
  when: string;
  part?: 'api' | 'worker';
  /** Where the part is killed: at a git command, a request of the forge or to the API, or as the agent begins or ends. */
  at:
    { git: 'before' | 'after'; command: string } | { forge: RegExp } | { sent: RegExp } | { agent: 'begins' | 'ends' };
}

const points: Point[] = [
  { step: 'connect', when: 'as the agent is started for its check', at: { agent: 'begins' } },
  { step: 'run', when: 'as the task is created', part: 'api', at: { sent: /^POST \/api\/tasks$/ } },
  { step: 'run', when: 'after the agent has done its work', at: { agent: 'ends' } },
  { step: 'diff', when: 'as it is read', at: { sent: /^GET \/api\/diff/ } },
  { step: 'comment', when: 'as the first is made', part: 'api', at: { sent: /^POST \/api\/diff\/.*\/comments$/ } },
  { step: 'send back', when: 'as it is requested', part: 'api', at: { sent: /\/send-back$/ } },
  { step: 'send back', when: 'as the agent is started again', at: { agent: 'begins' } },
  { step: 'pull request', when: 'after the push', at: { git: 'after', command: '*push *' } },
  { step: 'pull request', when: 'after it was created, before the answer', at: { forge: /^POST .*\/pulls$/ } },
  { step: 'accept', when: 'before the push', at: { git: 'before', command: '*push *' } },
  { step: 'accept', when: 'after the push', at: { git: 'after', command: '*push *' } },
];

/** What one day has made so far. */
interface Day {
  name: string;
  path: string;
  taskId: string;
  attemptId: string;
  sentBackId: string;
  pull: number;
}

describe('a first day with kill -9', () => {
  let service: Service;
  let files: TempDir;
  let breakpoints: GitBreakpoints;
  let github: GithubServer;
  let forge: GitHttp;
  let agent: { command: string; gate: string };
  /** Called with each request that was sent. */
  let onSent: ((line: string) => void) | undefined;

  beforeAll(async () => {
    files = await makeTempDir('crash-first-day');
    breakpoints = await gitBreakpoints(files.path);
    forge = await gitHttp(files.path, githubToken);
    github = await startGithubServer(forge.raw);
    const first = await aRepository(files.path, 'first');
    await git(first, 'push', '--quiet', forge.path, 'main');
    agent = await aStoppableAgent(files.path);
    service = await startService(
      { PATH: breakpoints.path, BOARD_FORGE_ALLOW_PRIVATE: 'true', GITHUB_CRASH_TOKEN: githubToken },
      { restart: soonAgain },
    );
  });
  afterAll(async () => {
    await service.close();
    await github.close();
    await files.remove();
  });

  /** The example agent, which stops as it begins or ends while there is a file of that name behind `gate`. */
  async function aStoppableAgent(dir: string) {
    const [command, gate] = [join(dir, 'agent'), join(dir, 'gate-')];
    const script = `#!/bin/sh
stop() {
  [ -e "$1" ] || return
  : > "$1.reached"
  while [ -e "$1" ]; do sleep 0.05; done
}
stop '${gate}begins'
'${process.execPath}' "$@"
stop '${gate}ends'
`;
    await writeFile(command, script);
    await chmod(command, 0o755);
    return { command, gate };
  }

  /** A request as a caller sends it who wants its result: again, under the same key, until there is one. */
  const ask = (method: string, path: string, body?: object, key?: string): Promise<Answer['body']> =>
    persistently(() => {
      const answer = service.call.ok(method, path, body, key === undefined ? {} : { 'Idempotency-Key': key });
      onSent?.(`${method} ${path}`);
      return answer;
    });

  /** Waits until a result other than that of `earlier` waits for its review; returns its attempt. */
  const result = (taskId: string, earlier?: string): Promise<string> =>
    persistently(async () => {
      const { review } = await service.call.ok('GET', `/api/tasks/${taskId}`);
      expect(review).toMatchObject({ state: 'pending', attemptId: expect.not.stringMatching(earlier ?? '^$') });
      return review.attemptId;
    });

  const day: Record<Step, (today: Day) => Promise<void>> = {
    async connect({ name, path }) {
      const repository = { kind: 'github', repository: 'acme/shop', baseUrl: github.baseUrl };
      await ask(
        'POST',
        '/api/config/repos',
        { name, path, remote: 'origin', forge: { ...repository, credential: 'env:GITHUB_CRASH_TOKEN' } },
        `${name}-repository`,
      );
      const { args: script } = exampleAgent(files.path);
      const { command } = agent;
      await ask(
        'POST',
        '/api/config/agents/from-preset',
        { preset: 'acp', type: name, name, command, args: script },
        `${name}-agent`,
      );
      expect(await ask('POST', `/api/config/agents/${name}/check`, {})).toMatchObject({ ok: true });
    },
    async run(today) {
      const { name } = today;
      const task = {
        title: name,
        description: `- [ ] write ${name}.txt: Hello`,
        git: { repo: name },
        executionPolicy: { review: 'required' },
      };
      today.taskId = (await ask('POST', '/api/tasks', task, `${name}-task`)).id;
      await ask('POST', `/api/agents/${today.taskId}/start`, { agent: name }, `${name}-start`);
      today.attemptId = await result(today.taskId);
    },
    async diff({ taskId, name }) {
      const { files: changed } = await ask('GET', `/api/diff/${taskId}`);
      expect(changed).toMatchObject([{ path: `${name}.txt`, status: 'added' }]);
    },
    async comment({ taskId, name }) {
      for (const [index, body] of [`write ${name}.txt: Good morning`, 'say Done.'].entries()) {
        const comment = { path: `${name}.txt`, line: 1, body };
        await ask('POST', `/api/diff/${taskId}/comments`, comment, `${name}-comment-${index}`);
      }
    },
    async 'send back'(today) {
      const { taskId, attemptId, name } = today;
      const { launch } = await ask('POST', `/api/tasks/${taskId}/review/send-back`, { attemptId }, `${name}-send-back`);
      today.sentBackId = launch.attemptId;
      today.attemptId = await result(taskId, attemptId);
    },
    async 'pull request'(today) {
      const { taskId, name } = today;
      today.pull = (await ask('POST', '/api/github/pr', { taskId }, `${name}-pull-request`)).number;
    },
    async accept({ taskId, attemptId, name }) {
      await ask('POST', `/api/tasks/${taskId}/review/accept`, { attemptId }, `${name}-accept`);
    },
  };

  /** Makes the part stop, or be noticed, at the point; returns what resolves when it is there. */
  async function arm({ at }: Point): Promise<() => Promise<unknown>> {
    if ('agent' in at) {
      const gate = `${agent.gate}${at.agent}`;
      await writeFile(gate, '');
      return () => eventually(() => expect(existsSync(`${gate}.reached`)).toBe(true));
    }
    if ('git' in at) {
      await breakpoints.set('point', at.git, at.command);
      return () => breakpoints.reached('point');
    }
    if ('forge' in at) {
      const before = github.count(at.forge);
      github.fail({ on: at.forge, answer: 'held' });
      return () => eventually(() => expect(github.count(at.forge)).toBe(before + 1));
    }
    const sent = new Promise<void>((resolve) => {
      onSent = (line) => {
        if (at.sent.test(line)) {
          resolve();
        }
      };
    });
    return () => sent;
  }

  async function disarm(): Promise<void> {
    onSent = undefined;
    for (const gate of ['begins', 'ends']) {
      await rm(`${agent.gate}${gate}`, { force: true });
      await rm(`${agent.gate}${gate}.reached`, { force: true });
    }
    await breakpoints.clear();
  }

  const merges = async () => (await git(forge.path, 'log', '--merges', '--format=%H', 'main')).split('\n');

  test.each(points)('$step: killed $when, the day ends once', async (point) => {
    const name = `day-${points.indexOf(point)}`;
    const path = join(files.path, name);
    await git(files.path, 'clone', '--quiet', forge.path, path);
    const before = await merges();
    const today: Day = { name, path, taskId: '', attemptId: '', sentBackId: '', pull: 0 };
    for (const step of steps) {
      if (step !== point.step) {
        await day[step](today);
        continue;
      }
      const reached = await arm(point);
      const done = day[step](today);
      await Promise.race([reached(), done.then(() => Promise.reject(new Error('the point was not reached')))]);
      killPart(service, point.part ?? 'worker');
      await disarm();
      await done;
    }
    await expectOneEnd(today, before);
  });

  async function expectOneEnd({ name, taskId, attemptId, sentBackId, pull }: Day, before: string[]): Promise<void> {
    const task = await service.call.ok('GET', `/api/tasks/${taskId}`);
    expect(task).toMatchObject({ status: 'done', review: { state: 'accepted', attemptId }, git: { prNumber: pull } });
    const { tasks } = await service.call.ok('GET', '/api/tasks');
    expect(tasks.filter(({ title }: { title: string }) => title === name)).toHaveLength(1);

    const { decisions } = await service.call.ok('GET', `/api/tasks/${taskId}/review`);
    const made = await merges();
    expect(made).toHaveLength(before.filter(Boolean).length + 1);
    expect(decisions).toMatchObject([
      { outcome: 'accepted', attemptId, mergedSha: made[0] },
      { outcome: 'sent-back', followUpAttemptId: sentBackId },
    ]);
    expect(await git(forge.path, 'show', `main:${name}.txt`)).toBe('Good morning');
    expect(github.state.pulls.filter(({ head }) => head.ref === `board/${taskId}`)).toMatchObject([{ number: pull }]);

    const comments = await service.call.ok('GET', `/api/diff/${taskId}/comments`);
    expect(comments).toMatchObject(
      Array.from({ length: 2 }, () => ({ state: 'sent', sent: { attemptId: sentBackId } })),
    );

    const { attempts } = await service.call.ok('GET', `/api/agents/${taskId}/attempts`);
    const ends: string[] = [];
    for (const { id } of attempts) {
      const events = await service.call.events(taskId, id);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
      const ended = events.filter(({ kind }) => ['run.completed', 'run.failed', 'run.interrupted'].includes(kind));
      expect(ended).toHaveLength(1);
      ends.push(ended[0].kind);
      expect(await findByEnvironment('BOARD_ATTEMPT_ID', id)).toEqual([]);
    }
    expect(ends.filter((kind) => kind === 'run.completed')).toHaveLength(2);
    const { entries } = await service.call.ok('GET', `/api/audit?resource=${taskId}&action=review.accepted`);
    expect(entries).toHaveLength(1);
  }
});

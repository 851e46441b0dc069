import { findByEnvironment } from '../../platform/processes/identity';
import { eventually } from '../../platform/testing/eventually';
import type { Answer } from '../support/caller';
import { git } from '../support/repository';
import type { Service } from '../support/service';
import { startedAttempts } from './victims';

const ends = ['run.completed', 'run.failed', 'run.interrupted'];
type Event = Answer['body'];

/** What is wrong with the events of one attempt, which must tell its whole story once. */
function problemsOfEvents(attemptId: string, events: Event[]): string[] {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string) => holds || problems.push(`${attemptId}: ${problem}`);
  check(
    events.every(({ sequence }, index) => sequence === index + 1),
    'its events have gaps or repetitions',
  );
  check(new Set(events.map(({ eventId }) => eventId)).size === events.length, 'an event was told twice');
  const ended = events.filter(({ kind }) => ends.includes(kind)).length;
  check(ended === 1, `it ended ${ended} times`);
  check(events.filter(({ kind }) => kind === 'run.started').length <= 1, 'it was told to have started twice');
  return problems;
}

async function problemsOfTask(service: Service, taskId: string): Promise<{ attempts: Event[]; problems: string[] }> {
  // The newest first.
  const { attempts } = await service.call.ok('GET', `/api/agents/${taskId}/attempts`);
  const problems: string[] = [];
  for (const { id, completion } of attempts) {
    if (!completion) problems.push(`${id}: it has no completion`);
    problems.push(...problemsOfEvents(id, await service.call.events(taskId, id)));
    if ((await findByEnvironment('BOARD_ATTEMPT_ID', id)).length > 0) problems.push(`${id}: its agent is still there`);
  }
  const [last] = attempts;
  const task = await service.call.ok('GET', `/api/tasks/${taskId}`);
  if (task.attempt?.id !== last?.id) problems.push(`${taskId}: it names ${task.attempt?.id} as its last attempt`);
  if ((task.status === 'done') !== (last?.completion?.status === 'success')) {
    problems.push(`${taskId}: it is ${task.status} after ${last?.completion?.status}`);
  }
  return { attempts, problems };
}

/** What is still held or waited for when every run has ended: an ending may be told a moment before its capacity is free. */
async function problemsOfCapacity({ call }: Service): Promise<string[]> {
  const left = async (): Promise<string[]> => {
    const { reservations } = await call.ok('GET', '/api/admission?state=active&limit=1000');
    const { depth } = await call.ok('GET', '/api/admission/queue');
    const waiting: number = depth.global.current;
    const held = reservations.map(({ attemptId }: Event) => `${attemptId}: it still holds capacity`);
    return [...held, ...(waiting === 0 ? [] : [`${waiting} launches are still in the queue`])];
  };
  try {
    await eventually(async () => expectNone(await left()));
    return [];
  } catch {
    return left();
  }
}

function expectNone(problems: string[]): void {
  if (problems.length > 0) throw new Error(problems.join('; '));
}

/** Everything that must hold when all runs have ended, whatever was killed; and what there was to check. */
export async function findProblems(
  service: Service,
  { taskIds, witness, repository }: { taskIds: string[]; witness: string; repository: string },
): Promise<{ problems: string[]; attempts: Event[][] }> {
  const tasks = await Promise.all(taskIds.map((taskId) => problemsOfTask(service, taskId)));
  const problems = tasks.flatMap((task) => task.problems);
  const started = startedAttempts(witness);
  for (const id of new Set(started)) {
    const times = started.filter((each) => each === id).length;
    if (times > 1) problems.push(`${id}: its agent was started ${times} times`);
  }
  problems.push(...(await problemsOfCapacity(service)));
  const fsck = await git(repository, 'fsck', '--no-dangling').catch((error: unknown) => String(error));
  if (fsck !== '') problems.push(`git fsck: ${fsck.slice(0, 500)}`);
  return { problems, attempts: tasks.map((task) => task.attempts) };
}

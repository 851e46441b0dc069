import { reviewAcceptanceId } from '../../../workflows/review-acceptance/messages';
import { aRemoteRepository } from '../../support/git/remote-repository';
import type { Recording, Stage } from './stage';

/** A result that is accepted, and one whose merge meets a conflict. */
export async function reviewScenarios({ service: { call }, dir }: Stage): Promise<Recording[]> {
  const repository = await aRemoteRepository(dir, 'reviewed');
  await call.ok('POST', '/api/config/repos', { name: 'reviewed', path: repository.path, remote: 'origin' });
  const aResult = async (file: string) => {
    const { id: taskId } = await call.createTask({
      title: 'Told',
      description: JSON.stringify({
        files: { [file]: repository.remote },
        result: { status: 'success', summary: 'Done.' },
      }),
      git: { repo: 'reviewed' },
      executionPolicy: { review: 'required' },
    });
    await call.start(taskId, { agent: 'as-told' });
    return { taskId, attemptId: (await call.ended(taskId)).attemptId as string };
  };
  const accept = ({ taskId, attemptId }: Awaited<ReturnType<typeof aResult>>) =>
    call.post(`/api/tasks/${taskId}/review/accept`, { attemptId });
  const [accepted, returned] = [await aResult('accepted.txt'), await aResult('returned.txt')];
  await repository.othersPush('returned.txt');
  await accept(accepted);
  await accept(returned);
  return [
    ['review-accepted', reviewAcceptanceId(accepted.attemptId)],
    ['review-returned', reviewAcceptanceId(returned.attemptId)],
  ];
}

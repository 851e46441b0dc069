import { reviewAcceptanceId } from '../../../workflows/review-acceptance/messages';
import { gitHttp } from '../../support/forges/git-http';
import { githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRemoteRepository } from '../../support/git/remote-repository';
import type { Recording, Stage } from './stage';

/** A result that is accepted, one whose merge meets a conflict, and two whose pull request is made and refused. */
export async function reviewScenarios({ service: { call }, dir }: Stage): Promise<Recording[]> {
  const repository = await aRemoteRepository(dir, 'reviewed');
  const github = await startGithubServer((await gitHttp(dir, githubToken)).raw);
  const forge = {
    kind: 'github',
    repository: 'acme/shop',
    baseUrl: github.baseUrl,
    credential: 'env:GITHUB_RECORDED_TOKEN',
  };
  await call.ok('POST', '/api/config/repos', { name: 'reviewed', path: repository.path, remote: 'origin' });
  await call.ok('PATCH', '/api/config/repos/reviewed', { forge });
  const aResult = async (file?: string) => {
    const { id: taskId } = await call.createTask({
      title: 'Told',
      description: JSON.stringify({
        files: file === undefined ? {} : { [file]: repository.remote },
        result: { status: 'success', summary: 'Done.' },
      }),
      git: { repo: 'reviewed' },
      executionPolicy: { review: 'required' },
    });
    await call.start(taskId, { agent: 'as-told' });
    return { taskId, attemptId: (await call.ended(taskId)).attemptId as string };
  };
  const accept = ({ taskId, attemptId }: Awaited<ReturnType<typeof aResult>>, body: object = {}) =>
    call.post(`/api/tasks/${taskId}/review/accept`, { attemptId, ...body });
  const [accepted, returned] = [await aResult('accepted.txt'), await aResult('returned.txt')];
  await repository.othersPush('returned.txt');
  await accept(accepted);
  await accept(returned);
  const [proposed, refused] = [await aResult('proposed.txt'), await aResult()];
  await accept(proposed, { delivery: 'pull-request' });
  await accept(refused, { delivery: 'pull-request' });
  await github.close();
  return [
    ['review-accepted', reviewAcceptanceId(accepted.attemptId)],
    ['review-returned', reviewAcceptanceId(returned.attemptId)],
    ['review-proposed', reviewAcceptanceId(proposed.attemptId)],
    ['review-not-proposed', reviewAcceptanceId(refused.attemptId)],
  ];
}

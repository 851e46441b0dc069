import { createdLinkId, importedLinkId, trackerScope } from '../../../../domain/trackers/scope';
import { trackerIntrospectionId } from '../../../../workflows/tracker-introspection/messages';
import { trackerLinkWorkflowId } from '../../../../workflows/tracker-link/messages';
import { startGithubServer } from '../../../support/forges/github-server';
import type { Recording, Stage } from '../stage';

const root = '/api/integrations/trackers';
const creation = /^POST .*\/issues$/;
const project = 'acme/shop';

/** A project that is read; work items that are created, lost and found, refused, brought in and commented on. */
export async function trackerScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const github = await startGithubServer();
  try {
    const { baseUrl } = github;
    const provider = 'github' as const;
    const profile = `${root}/profiles/recorded`;
    await call.ok('PUT', `${root}/connection`, { provider, baseUrl, credential: 'env:GITHUB_RECORDED_TOKEN' });
    await call.ok('POST', `${root}/introspect`, { provider, project });
    await call.ok('PUT', profile, {
      ...{ name: 'Recorded', provider, defaultWorkItemType: 'Issue', defaultProjectPath: project },
      fieldMappings: [{ trackerFieldId: 'title', source: 'title', required: true }],
    });
    const scope = trackerScope({ provider, baseUrl }, project);
    const aTask = async (title: string): Promise<string> => (await call.createTask({ title })).id as string;
    const create = (taskId: string) => call.post(`${profile}/create`, { taskId, approvedBy: 'ada' });
    const linkOf = (taskId: string): string => trackerLinkWorkflowId(createdLinkId(taskId, 'recorded', scope));

    const created = await aTask('Created');
    await create(created);
    const lost = await aTask('Lost');
    github.fail({ on: creation, answer: 'lost' });
    await create(lost);
    const refused = await aTask('Refused');
    github.fail({ on: creation, answer: { status: 422, body: { message: 'Validation Failed' } } });
    await create(refused);
    const commented = await aTask('Commented');
    const { body } = await create(commented);
    await call.ok('POST', `/api/tasks/${commented}/comments`, { text: 'Ours' });
    await call.ok('POST', `${profile}/sync-comments`, { taskId: commented, workItemId: body.workItem.id });
    const workItemId = String(github.openIssue({ title: 'Theirs' }));
    await call.ok('POST', `${profile}/import`, { workItemId });
    return [
      ['tracker-introspection', trackerIntrospectionId(provider, project)],
      ['tracker-link-created', linkOf(created)],
      ['tracker-link-lost', linkOf(lost)],
      ['tracker-link-refused', linkOf(refused)],
      ['tracker-link-comments', linkOf(commented)],
      ['tracker-link-imported', trackerLinkWorkflowId(importedLinkId(scope, workItemId))],
    ];
  } finally {
    await github.close();
  }
}

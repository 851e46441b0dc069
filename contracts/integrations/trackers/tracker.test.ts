import { trackerConnectionPut } from './tracker';

const site = { provider: 'jira', baseUrl: 'https://jira.example/jira', credential: 'env:JIRA_TOKEN' };

describe('a connection to a tracker', () => {
  it.each([
    ['Jira Cloud, when none is named', { ...site, account: 'bot@acme.example' }],
    ['Jira Cloud', { ...site, account: 'bot@acme.example', deployment: 'cloud' }],
    ['Jira Data Center, without an account', { ...site, deployment: 'data-center' }],
    ['a forge, without a deployment', { provider: 'gitlab', credential: 'env:GITLAB_TOKEN' }],
  ])('is accepted for %s', (_what, connection) => {
    expect(trackerConnectionPut.parse(connection)).toEqual(connection);
  });

  it.each([
    ['Jira Cloud without an account', site, 'account'],
    ['an account of Jira Data Center', { ...site, account: 'a@b.example', deployment: 'data-center' }, 'account'],
    ['another deployment', { ...site, account: 'a@b.example', deployment: 'server' }, 'deployment'],
    ['a deployment of a forge', { provider: 'gitlab', credential: 'env:GITLAB_X', deployment: 'cloud' }, 'deployment'],
  ])('is refused for %s, with the field', (_what, connection, field) => {
    const { error } = trackerConnectionPut.safeParse(connection);
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
  });
});

import type { TrackerProvider } from '../../../contracts/integrations/trackers/tracker';
import type { TrackerSettings } from '../../../providers/trackers/tracker';
import type { ForgeServer } from '../forges/forge-server';
import { type GithubServer, githubToken, startGithubServer } from '../forges/github-server';
import { type GitlabServer, gitlabToken, startGitlabServer } from '../forges/gitlab-server';
import { type JiraDataCenterServer, personalToken, startJiraDataCenterServer } from '../forges/jira-data-center-server';
import { jiraAccount, type JiraServer, jiraToken, startJiraServer } from '../forges/jira-server';

type Raw = Parameters<typeof startGithubServer>[0];

/** A stand-in of each tracker, with what tests of all of them have in common. */
export interface TrackerServers {
  github: GithubServer;
  gitlab: GitlabServer;
  jira: JiraServer;
  dataCenter: JiraDataCenterServer;
  server(provider: TrackerProvider): ForgeServer & { baseUrl: string };
  settings(provider: TrackerProvider, changed?: Partial<TrackerSettings>): TrackerSettings;
  /** Opens a work item as a person does, and returns its id. */
  open(provider: TrackerProvider, title: string): string;
  /** Writes a comment as a person does. */
  comment(provider: TrackerProvider, id: string, text: string): void;
  titles(provider: TrackerProvider): string[];
  comments(provider: TrackerProvider, id: string): string[];
  close(): Promise<unknown>;
}

export const trackerTokens = {
  github: githubToken,
  gitlab: gitlabToken,
  jira: jiraToken,
  dataCenter: personalToken,
};
/** What matches the request that creates a work item, and the one that creates a comment. */
export const creationOf = {
  github: /^POST .*\/issues$/,
  gitlab: /^POST .*\/issues$/,
  jira: /^POST \/rest\/api\/3\/issue$/,
};
export const commentOf = {
  github: /^POST .*\/comments$/,
  gitlab: /^POST .*\/notes$/,
  jira: /^POST .*\/comment$/,
};

export async function startTrackerServers(raw?: Raw): Promise<TrackerServers> {
  const [github, gitlab, jira, dataCenter] = await Promise.all([
    startGithubServer(raw),
    startGitlabServer(raw),
    startJiraServer(raw),
    startJiraDataCenterServer(raw),
  ]);
  github.state.clockMs = Date.now();
  const servers = { github, gitlab, jira };
  const bodies = (all: object[] | undefined): string[] =>
    (all ?? []).map((one) => String((one as { body: unknown }).body));
  return {
    ...servers,
    dataCenter,
    server: (provider) => servers[provider],
    settings: (provider, changed = {}) => ({
      provider,
      baseUrl: servers[provider].baseUrl,
      project: provider === 'jira' ? 'SHOP' : 'acme/shop',
      token: trackerTokens[provider],
      account: provider === 'jira' ? jiraAccount : '',
      allowPrivate: true,
      ...changed,
    }),
    open: (provider, title) =>
      provider === 'jira' ? jira.openIssue({ summary: title }) : String(servers[provider].openIssue({ title })),
    comment(provider, id, spoken) {
      if (provider === 'jira') {
        jira.comment(id, spoken);
      } else if (provider === 'github') {
        github.comment(Number(id), spoken);
      } else {
        const notes = gitlab.state.notes.get(Number(id)) ?? [];
        const at = '2026-01-01T00:00:00.000Z';
        const note = {
          id: notes.length + 1,
          author: { username: 'mona' },
          created_at: at,
          updated_at: at,
          body: spoken,
        };
        gitlab.state.notes.set(Number(id), [...notes, note]);
      }
    },
    titles: (provider) =>
      provider === 'jira'
        ? jira.state.issues.map(({ fields }) => String(fields.summary))
        : servers[provider].state.issues.map(({ title }) => String(title)),
    comments: (provider, id) =>
      provider === 'jira'
        ? (jira.state.comments.get(id) ?? []).map(({ body }) => JSON.stringify(body))
        : bodies(provider === 'github' ? github.state.comments.get(Number(id)) : gitlab.state.notes.get(Number(id))),
    close: () => Promise.all([github.close(), gitlab.close(), jira.close(), dataCenter.close()]),
  };
}

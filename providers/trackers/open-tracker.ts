import type { TrackerProvider } from '../../contracts/integrations/trackers/tracker';
import { createGithubTracker } from './github-tracker';
import { createGitlabTracker } from './gitlab-tracker';
import { createJiraTracker } from './jira/jira-tracker';
import type { Tracker, TrackerSettings } from './tracker';

const families: Record<TrackerProvider, (settings: TrackerSettings) => Tracker> = {
  github: createGithubTracker,
  gitlab: createGitlabTracker,
  jira: createJiraTracker,
};

/** The client of one project of a tracker. Nothing is sent until something is asked. */
export const openTracker = (settings: TrackerSettings): Tracker => families[settings.provider](settings);

import { adapterRemedies } from './adapters';
import { decisionReviewRemedies } from './decision-reviews';
import { forgeRemedies } from './forges';
import { identityRemedies } from './identity';
import { launchRemedies } from './launches';
import type { Remedy } from './remedy';
import { reviewRemedies } from './reviews';
import { ruleRemedies } from './rules';
import { runRemedies } from './runs';
import { searchRemedies } from './search';
import { serviceRemedies } from './service';
import { signInRemedies } from './sign-in';
import { taskRemedies } from './tasks';
import { trackerRemedies } from './trackers';
import { workflowRemedies } from './workflows';
import { worktreeRemedies } from './worktrees';

/** What helps after a refusal, by its code: every code of a conflict (409), and what of the others an operation remedies. */
export const remedies: Readonly<Record<string, Remedy>> = {
  ...taskRemedies,
  ...launchRemedies,
  ...ruleRemedies,
  ...runRemedies,
  ...reviewRemedies,
  ...decisionReviewRemedies,
  ...adapterRemedies,
  ...workflowRemedies,
  ...worktreeRemedies,
  ...forgeRemedies,
  ...trackerRemedies,
  ...identityRemedies,
  ...searchRemedies,
  ...serviceRemedies,
  ...signInRemedies,
};

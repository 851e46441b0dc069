import { join } from 'node:path';

const dist = join(__dirname, '..', '..', '..', 'dist');

/**
 * The workflows as the build has bundled them, for `Worker.create`: a test that bundles them again waits for seconds.
 * `npm run test:mutation:workflows` names bundles of mutants.
 */
export const workflowBundle = { codePath: process.env.TEST_WORKFLOW_BUNDLE ?? join(dist, 'workflow-bundle.js') };
export const workflowRunsBundle = { codePath: join(dist, 'workflow-runs-workflow-bundle.js') };
export const plantsWorkflowBundle = { codePath: join(dist, 'plants-workflow-bundle.js') };

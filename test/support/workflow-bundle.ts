import { join } from 'node:path';

const dist = join(__dirname, '..', '..', 'dist');

/** The workflows as the build has bundled them, for `Worker.create`: a test that bundles them anew waits for seconds. */
export const workflowBundle = { codePath: join(dist, 'workflow-bundle.js') };
export const workflowRunsBundle = { codePath: join(dist, 'workflow-runs-workflow-bundle.js') };
export const plantsWorkflowBundle = { codePath: join(dist, 'plants-workflow-bundle.js') };

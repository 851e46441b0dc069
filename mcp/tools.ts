import type { BoardTool } from './tool';
import { approvalTools } from './tools/approvals';
import { runTools } from './tools/runs';
import { searchTools } from './tools/search';
import { taskTools } from './tools/tasks';
import { workTools } from './tools/work';

/** All tools of the board, in the order in which they are listed. */
export const boardTools: readonly BoardTool[] = [
  ...taskTools,
  ...workTools,
  ...runTools,
  ...approvalTools,
  ...searchTools,
];

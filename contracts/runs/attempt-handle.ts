import { z } from 'zod';
import { attemptId, taskId } from '../common';

/** Header that an agent presents the handle of its attempt in. */
export const attemptHandleHeader = 'X-Board-Attempt-Handle';

/** The only permission of a handle; no role has it. */
export const childrenPermission = 'attempt:children';

/** The agent's file that is named in `BOARD_ATTEMPT_HANDLE`: the credential of its attempt. */
export const attemptHandleFile = z.object({
  schemaVersion: z.literal('attempt-handle/v1'),
  taskId,
  attemptId,
  header: z.literal(attemptHandleHeader),
  handle: z.string(),
});
export type AttemptHandleFile = z.infer<typeof attemptHandleFile>;

import { approvalFences } from './approvals';
import { attemptFences } from './attempts';
import { ledgerFences } from './capacity-ledger';
import { decisionFences } from './decisions';
import { earlierLedgerFences } from './earlier-ledger';
import type { OpenStore } from './open-store';
import { queueFences } from './queue';
import { reservationFences } from './reservations';
import { runEndFences } from './run-ends';
import { settledCountFences } from './settled-counts';
import { talkFences } from './talks';
import { workflowRunFences } from './workflow-runs';
import { workspaceFences } from './workspaces';

/** What every fence of the stores must hold against, on every adapter. */
export function storeFences(open: OpenStore): void {
  reservationFences(open);
  ledgerFences(open);
  settledCountFences(open);
  earlierLedgerFences(open);
  attemptFences(open);
  queueFences(open);
  approvalFences(open);
  describe('decisions', () => decisionFences(open));
  describe('workspaces', () => workspaceFences(open));
  workflowRunFences(open);
  runEndFences(open);
  talkFences(open);
}

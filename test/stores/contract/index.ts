import { aggregationContract } from './aggregation';
import { attachmentsContract } from './attachments';
import { blobsContract } from './blobs';
import { spendLedgerContract } from './budgets/spend-ledger';
import { chatContract } from './chat';
import { documentsContract } from './documents';
import { tracesContract } from './governance/traces';
import type { StoreHarness } from './harness';
import { lateWorkersContract } from './late-workers';
import { lifecycleContract } from './lifecycle';
import { logContract } from './log';
import { managedListsContract } from './managed-lists';
import { outputArtifactsContract } from './output-artifacts';
import { pagesContract } from './pages';
import { queriesContract } from './queries';
import { rateCountsContract } from './rate-counts';
import { runListsContract } from './run-lists';
import { workProductsContract } from './tasks/work-products';
import { textIndexContract } from './text/text-index';
import { updatesContract } from './updates';
import { workspacesContract } from './workspaces';

/** What every adapter of the store port does. */
export function storeContract(harness: StoreHarness): void {
  lifecycleContract(harness);
  documentsContract(harness);
  queriesContract(harness);
  pagesContract(harness);
  updatesContract(harness);
  aggregationContract(harness);
  logContract(harness);
  lateWorkersContract(harness);
  blobsContract(harness);
  outputArtifactsContract(harness);
  attachmentsContract(harness);
  managedListsContract(harness);
  chatContract(harness);
  rateCountsContract(harness);
  runListsContract(harness);
  textIndexContract(harness);
  tracesContract(harness);
  spendLedgerContract(harness);
  workProductsContract(harness);
  workspacesContract(harness);
}

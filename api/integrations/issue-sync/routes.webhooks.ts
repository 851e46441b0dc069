import { z } from 'zod';
import { slug } from '../../../contracts/common';
import type { ForgeConnection } from '../../../contracts/integrations/forge';
import { pullRequestsIn } from '../../../contracts/integrations/forge-webhook';
import { issueWebhookReceipt } from '../../../contracts/integrations/issue-sync';
import { isInbound } from '../../../domain/issue-sync/compare';
import { hasGithubSignature, hasGitlabToken } from '../../../platform/crypto/webhook-signature';
import { AppError, conflict, validationError } from '../../../platform/errors/app-error';
import { recordHttpFailure } from '../../../platform/http/auth/auth-failures';
import type { HttpContext } from '../../../platform/http/context';
import type { RouteContract, RouteInput } from '../../../platform/http/routing/route-contract';
import type { Routes } from '../../../platform/http/routing/routes';
import { disabledError } from '../../../workflows/issue-sync/client';
import type { IssueSyncContext } from './routes';

/** A webhook as it comes, unread. */
type WebhookInput = Pick<RouteInput<{ repo: string }, unknown, unknown>, 'params' | 'header' | 'rawBody'>;

/** What a forge sends beside the body of a webhook. */
const headers = {
  github: { proof: 'X-Hub-Signature-256', delivery: 'X-GitHub-Delivery' },
  gitlab: { proof: 'X-Gitlab-Token', delivery: 'X-Gitlab-Event-UUID' },
} as const;

/** Webhooks of forges. A verified one reports that something has changed, and of which pull request; both are read from the forge. */
export function issueWebhookRoutes(
  routes: Routes,
  { authFailures, issueSyncLauncher, issueSyncs, log, now, pullRequests, repositories }: IssueSyncContext,
): void {
  /** @throws AppError 404, the same for a repository that is not there; 403 */
  async function secretOf(repo: string): Promise<{ forge: ForgeConnection; secret: string }> {
    const forge = (await repositories.find(repo))?.forge;
    const reference = forge?.webhookSecret;
    if (!forge || reference === undefined) {
      throw new AppError('NOT_FOUND', {
        status: 404,
        message: `No webhook is configured for ${JSON.stringify(repo)}: its forge needs a webhookSecret.`,
        details: { resource: 'webhook', id: repo },
      });
    }
    const variable = reference.slice('env:'.length);
    const secret = process.env[variable]?.trim() ?? '';
    if (secret === '') {
      log.warn({ repo, variable }, 'webhook secret missing');
      throw new AppError('WEBHOOK_SECRET_MISSING', {
        status: 403,
        message: 'The webhook cannot be verified: the API was started without its secret.',
      });
    }
    return { forge, secret };
  }

  const receiving = {
    method: 'post' as const,
    tag: 'github',
    permission: 'public',
    idempotency: 'none' as const,
    rawBody: true as const,
    response: issueWebhookReceipt,
    status: 202 as const,
    errors: [401, 403, 409],
  } satisfies Partial<RouteContract>;
  routes.add(
    {
      ...receiving,
      path: '/github/webhooks/:repo',
      operationId: 'receiveIssueWebhook',
      summary: 'Accept a signed webhook of a forge, and have its issues and pull requests read',
      params: z.strictObject({ repo: slug }),
    },
    receive,
  );
  routes.add(
    {
      ...receiving,
      path: '/workspaces/:workspaceId/github/webhooks/:repo',
      operationId: 'receiveWorkspaceIssueWebhook',
      summary: 'Accept a signed webhook of a forge for a repository of a workspace',
      workspaceParam: 'workspaceId',
      params: z.strictObject({ workspaceId: z.string().max(40), repo: slug }),
    },
    receive,
  );

  async function receive(
    { params: { repo }, header, rawBody }: WebhookInput,
    ctx: HttpContext,
  ): Promise<z.output<typeof issueWebhookReceipt>> {
    const { forge, secret } = await secretOf(repo);
    const { proof, delivery } = headers[forge.kind];
    const presented = header(proof);
    const body = await rawBody();
    const isProven =
      forge.kind === 'github' ? hasGithubSignature(secret, body, presented) : hasGitlabToken(secret, presented);
    if (!isProven) {
      recordHttpFailure(authFailures, ctx, presented !== undefined);
      throw new AppError('WEBHOOK_UNVERIFIED', {
        status: 401,
        message: `The webhook is not verified: ${proof} is ${presented === undefined ? 'missing' : 'not of this secret and body'}.`,
      });
    }
    const deliveryId = header(delivery) ?? '';
    if (!/^[A-Za-z0-9-]{1,100}$/.test(deliveryId)) {
      throw validationError([{ path: delivery, message: 'must be the id of the delivery' }]);
    }
    const sync = await issueSyncs.configs.get(repo);
    if (sync?.enabled !== true) {
      throw disabledError(repo);
    }
    const reads = { issues: isInbound(sync.syncMode), pullRequests: sync.pullRequests !== false };
    if (!reads.issues && !reads.pullRequests) {
      const message = `The synchronisation of ${repo} reads neither issues nor pull requests.`;
      throw conflict(message, { repo }, 'ISSUE_SYNC_OUTBOUND');
    }
    const duplicate = await issueSyncs.isProcessed(repo, deliveryId);
    if (!duplicate) {
      const subject = pullRequestsIn(forge.kind, contentOf(body));
      // Checks of a busy repository announce themselves all the time: a round is for those of the tasks' pull requests.
      const isRead = subject ? reads.pullRequests && (await pullRequests.announce(repo, subject)) : reads.issues;
      if (isRead) {
        await issueSyncLauncher.wake(repo);
      }
      // Recorded last: a delivery that failed half-way is sent again, and processed.
      await issueSyncs.processed(repo, deliveryId, now());
    }
    return { accepted: true as const, duplicate };
  }
}

/** The event in a body, which GitHub may send as a form; of what is none, nothing. */
function contentOf(body: Buffer): unknown {
  const text = body.toString();
  try {
    return JSON.parse(text.startsWith('payload=') ? (new URLSearchParams(text).get('payload') ?? '') : text);
  } catch {
    return {};
  }
}

import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  artifactId,
  outputArtifactQuery,
  outputArtifactResponse,
  outputDownloadQuery,
  readLimits,
} from '../../../contracts/runs/output';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import { routeLimit } from '../../../platform/http/limits/rate-limit';
import { BytesResponse } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import { type OutputArtifactRecord, presentArtifact } from '../../../stores/runs/output-store';
import type { WorkflowContext } from '../../context';
import { ContentProblem, type ContentRequest, openDownload, readContent } from './read';

const tag = 'runs';
const taskParams = z.strictObject({ taskId, artifactId });

type OutputArtifactsContext = Pick<WorkflowContext, 'env' | 'log' | 'outputArtifacts'>;

/** Reading output that was too large for the events of a run. */
export function outputArtifactRoutes(routes: Routes, context: OutputArtifactsContext): void {
  const limitReads = routeLimit(context.env.RATE_LIMIT_ARTIFACTS);

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/output-artifacts/:artifactId',
      operationId: 'readOutputArtifact',
      summary: 'Read metadata of an output artifact, or a bounded part of its content',
      tag,
      permission: 'agent:read',
      params: taskParams,
      query: outputArtifactQuery,
      response: outputArtifactResponse,
      errors: [404, 409, 410, 413],
    },
    async ({ params, query, auth }, ctx) => {
      const record = await find(context, params, query);
      const request = contentRequest(query);
      if (request) {
        limitReads(ctx, auth.actor);
      }
      const content = request
        ? await withQuarantine(context, record, () => readContent(context.outputArtifacts, record, request))
        : null;
      return { schemaVersion: 'run-output-read/v1' as const, artifact: presentArtifact(record), content };
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/output-artifacts/:artifactId/download',
      operationId: 'downloadOutputArtifact',
      summary: 'Download the content of an output artifact, or a range of it',
      tag,
      permission: 'agent:read',
      params: taskParams,
      query: outputDownloadQuery,
      response: z.undefined(),
      errors: [404, 409, 410],
    },
    async ({ params, query, auth }, ctx) => {
      const record = await find(context, params, query);
      limitReads(ctx, auth.actor);
      const { bytes, length } = await withQuarantine(context, record, () =>
        openDownload(context.outputArtifacts, record, query),
      );
      return new BytesResponse(bytes, {
        // Whatever its own type: a browser saves it and never shows it.
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': `attachment; filename="${record._id}"`,
        'Content-Length': String(length),
        'X-Artifact-Media-Type': record.mediaType,
        'X-Artifact-Sha256': record.sha256,
      });
    },
  );
}

/** The artifact, if it is exactly of that task, run and attempt. */
async function find(
  { outputArtifacts }: OutputArtifactsContext,
  params: { taskId: string; artifactId: string },
  { runId, attemptId }: { runId: string; attemptId: string },
): Promise<OutputArtifactRecord> {
  const record = await outputArtifacts.get(params.artifactId);
  const isOfRun = record?.taskId === params.taskId && record.runId === runId && record.attemptId === attemptId;
  const artifact = isOfRun ? record : undefined;
  assertFound(artifact, 'output artifact of this run', params.artifactId);
  return artifact;
}

function contentRequest(query: z.output<typeof outputArtifactQuery>): ContentRequest | undefined {
  const { operation, offset = 0, length = readLimits.bytes, startLine = 1, lineCount = 200, jsonPath = '$' } = query;
  switch (operation) {
    case undefined:
      return undefined;
    case 'byte-range':
      return { operation, offset, length };
    case 'line-range':
      return { operation, startLine, lineCount };
    case 'json-path':
      return { operation, jsonPath };
  }
}

/** Reads content that is available; content that is not fit to leave is withheld from now on. */
async function withQuarantine<T>(
  { outputArtifacts, log }: OutputArtifactsContext,
  record: OutputArtifactRecord,
  read: () => Promise<T>,
): Promise<T> {
  assertAvailable(record);
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ContentProblem)) {
      throw error;
    }
    // It may have expired while it was read, which is no fault of its content.
    const withheld = await outputArtifacts.quarantine(record._id, error.reason);
    const current = withheld ?? (await outputArtifacts.get(record._id)) ?? record;
    if (withheld) {
      log.warn({ artifactId: record._id, reason: error.reason }, 'artifact content withheld');
    }
    assertAvailable(current);
    throw error;
  }
}

function assertAvailable(record: OutputArtifactRecord): void {
  const details = { artifactId: record._id, state: record.state };
  if (record.state === 'expired') {
    throw new AppError('ARTIFACT_EXPIRED', {
      status: 410,
      message: 'The content of the artifact has expired.',
      details,
    });
  }
  if (record.state === 'quarantined') {
    const message = 'The content of the artifact is withheld: it differs from what was stored, or contains a secret.';
    throw conflict(message, { ...details, reason: record.quarantine?.reason }, 'ARTIFACT_QUARANTINED');
  }
}

import type { RunEvent } from '../contracts/runs/event';
import type { RecordedLaunchManifest } from '../contracts/runs/launch/manifest';
import { cut } from '../platform/text/cut';
import { codeBlock, inlineCode } from '../platform/text/markdown-code';
import { printable } from '../platform/text/printable';

/** The fields of a log's head. */
export interface LoggedAttempt {
  attemptId: string;
  taskId: string;
  agent: string;
  provider: string;
  createdAt: string;
  createdBy: string;
  commitPolicy: string;
  runLaunchManifest?: RecordedLaunchManifest;
  completion?: { status: string };
}

/** The most characters of one text in a log; the event itself has all of it. */
const shownCharacters = 2_000;

/** Payload fields that describe an event, by precedence. */
const describingFields = ['message', 'text', 'summary', 'path', 'name', 'action', 'status'] as const;

/** The head of an attempt's markdown log: what was launched, by digest. */
export function runLogHeader(attempt: LoggedAttempt): string {
  const { runLaunchManifest: manifest } = attempt;
  const lines = [
    `- Task: ${inlineCode(attempt.taskId)}`,
    `- Agent: ${inlineCode(attempt.agent)} (${inlineCode(attempt.provider)})`,
    `- Launched: ${attempt.createdAt} by ${inlineCode(attempt.createdBy)}`,
    `- Commit policy: ${attempt.commitPolicy}`,
    ...(manifest
      ? [
          `- Launch manifest: ${manifest.digest}`,
          `- Task envelope: ${manifest.taskEnvelope.digest}`,
          `- Provider runtime: ${manifest.providerRuntime.digest}`,
          `- Warnings: ${manifest.enforcement.warnings.map(({ code }) => inlineCode(code)).join(', ') || 'none'}`,
        ]
      : []),
    ...(attempt.completion ? [`- Ended: ${attempt.completion.status}`] : []),
  ];
  return `# Run ${attempt.attemptId}\n\n${lines.join('\n')}\n\n## Log\n\n`;
}

/**
 * One event of the log. What an agent printed is set as code, so that it cannot pass for something else, and is without
 * escapes, so that it does nothing to a terminal that shows the log.
 */
export function runLogChunk({ sequence, receivedAt, kind, payload }: RunEvent): string {
  const head = `- \`${sequence}\` ${receivedAt} **${kind}**`;
  const field = describingFields.find((name) => typeof payload[name] === 'string' && payload[name] !== '');
  const text = printable(field === undefined ? rest(payload) : String(payload[field]));
  if (text === '') {
    return `${head}\n`;
  }
  const shown = text.length > shownCharacters ? `${cut(text, shownCharacters)} …` : text;
  return shown.includes('\n') ? `${head}\n\n${block(shown)}\n` : `${head}: ${inlineCode(shown)}\n`;
}

const rest = (payload: Record<string, unknown>): string =>
  Object.keys(payload).length === 0 ? '' : JSON.stringify(payload);

const block = (text: string): string => `${codeBlock(text).replace(/^/gm, '  ')}\n`;

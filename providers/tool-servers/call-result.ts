import { z } from 'zod';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';
import { redactTexts } from './discovered-tools';
import { resultLimits } from './limits';
import type { ToolCallResult } from './tool-server';

/** The response of the protocol to a call. */
export const callResponse = z.object({
  content: z.array(z.record(z.string(), z.unknown())).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().default(false),
});

/** What is returned of a response: without credentials, and no more than fits; texts are cut, other parts left out whole. */
export function toCallResult(
  { content, structuredContent, isError }: z.infer<typeof callResponse>,
  redact: (text: string) => string,
): ToolCallResult {
  let left: number = resultLimits.bytes;
  let truncated = false;
  const fits = <T>(value: T): T | undefined => {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    if (bytes > left) {
      truncated = true;
      return undefined;
    }
    left -= bytes;
    return value;
  };
  const structured = structuredContent && fits(redactTexts(structuredContent, redact) as Record<string, unknown>);
  const parts = content.flatMap((sent, index) => {
    if (index >= resultLimits.parts) {
      truncated = true;
      return [];
    }
    const part = redactTexts(sent, redact) as Record<string, unknown>;
    const whole = fits(part);
    if (whole) {
      return [whole];
    }
    const text = part.type === 'text' && typeof part.text === 'string' ? part.text : undefined;
    const rest = text === undefined ? undefined : fits({ type: 'text', text: cut(text, Math.floor(left / 8)) });
    return rest && rest.text !== '' ? [rest] : [];
  });
  return { content: parts, ...compact({ structuredContent: structured }), isError, truncated };
}

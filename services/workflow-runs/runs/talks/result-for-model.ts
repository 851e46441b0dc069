import { valueText } from '../../graph/values';
import type { ToolEnd } from '../stages/tool-messages';

/** What a model is sent of a call: what the tool responded, or why it has no response. */
export function resultForModel({ status, output, reason = '' }: ToolEnd): { content: string; isError: boolean } {
  const isResponse = status === 'completed' || status === 'error';
  return { content: isResponse ? valueText(output) : `${status}: ${reason}`, isError: status !== 'completed' };
}

import { compact } from '../../../../platform/json/compact';
import { refuse } from '../../http/errors';
import type { Answer, Question } from '../execution/messages';
import type { AnswerInput } from './contracts';

/**
 * An answer, checked against its question.
 *
 * @throws AppError 400 when it is no answer to it
 */
export function checkedAnswer(question: Question, input: AnswerInput): Answer {
  const keys = [
    ...(input.selected_option_keys ?? []),
    ...(input.selected_option_key === undefined ? [] : [input.selected_option_key]),
  ];
  const distinct = [...new Set(keys)];
  if (input.value === undefined && distinct.length === 0) {
    throw refuse(400, 'One of value, selected_option_key, or selected_option_keys is required.');
  }
  if (distinct.some((key) => !question.options.some((option) => option.key === key))) {
    throw refuse(400, 'Invalid option key.');
  }
  if (distinct.length > 1 && question.question_type !== 'multi_select') {
    throw refuse(400, 'This question takes one option.');
  }
  // A text that is one of the options is that option, so that a client may send either.
  const meant = question.options.find(({ key }) => key === input.value)?.key;
  if (input.value !== undefined && distinct.length === 0 && meant !== undefined) {
    return { questionId: question.id, keys: [meant] };
  }
  if (input.value !== undefined && !question.allow_freeform) {
    throw refuse(400, 'This question takes one of its options.');
  }
  return { questionId: question.id, keys: distinct, ...compact({ value: input.value }) };
}

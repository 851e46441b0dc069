import { operation, service, serviceHandler } from 'nexus-rpc';
import { hostService, type HostQuestions } from '../workflows/host-questions';

/** What answers, for each question. */
type Answers = {
  [Q in keyof HostQuestions]: (input: HostQuestions[Q]['input']) => Promise<HostQuestions[Q]['answer']>;
};

const asked = <Q extends keyof HostQuestions>() => operation<HostQuestions[Q]['input'], HostQuestions[Q]['answer']>();

const questions = service(hostService, { preview: asked<'preview'>(), inspect: asked<'inspect'>() });

/** Answers what is asked of this host, with the functions that are its activities as well. */
export const answerHostQuestions = (answers: Answers) =>
  serviceHandler(questions, {
    preview: (_context, input) => answers.preview(input),
    inspect: (_context, input) => answers.inspect(input),
  });

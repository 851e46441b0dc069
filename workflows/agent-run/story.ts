import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../../platform/temporal/search-attributes';

/** The most sentences of a story that are shown; a run that is spoken to all day has more. */
const mostShown = 30;

/** What operators see of a run without opening its history: how it stands, and what has happened, in sentences. */
export class RunStory {
  private state = 'admitting';
  private readonly facts = new Map<string, string>();
  private readonly sentences: string[] = [];

  constructor(taskId: string, attemptId: string) {
    this.facts.set('task', taskId).set('attempt', attemptId);
  }

  /** Something that stays true of the run: its agent, its provider. */
  know(name: string, value: string): void {
    this.facts.set(name, value);
  }

  /** The run has come to another state, which it can also be found by. */
  become(state: string, sentence: string): void {
    this.state = state;
    upsertSearchAttributes([{ key: searchAttributes.runState, value: state }]);
    this.tell(sentence);
  }

  tell(sentence: string): void {
    this.sentences.push(sentence);
    if (this.sentences.length > mostShown) this.sentences.shift();
    setCurrentDetails(this.text());
  }

  private text(): string {
    const facts = [...this.facts].map(([name, value]) => `${name} \`${value}\``).join(' · ');
    return [`**${this.state}** · ${facts}`, '', ...this.sentences.map((sentence) => `- ${sentence}`)].join('\n');
  }
}

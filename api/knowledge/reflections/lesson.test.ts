import type { Reflection } from '../../../contracts/knowledge/reflection';
import { withLesson } from './lesson';

const reflection: Reflection = {
  id: 'reflection_0123456789ab',
  category: 'agent',
  promotionTarget: 'task-lesson',
  confidence: 1,
  source: { kind: 'error', taskId: 'TASK-1' },
  summary: 'Look first.\nThen leap.',
  nextAttempt: 'Read the log',
  evidence: [],
  tags: ['care', 'logs'],
  status: 'accepted',
  createdAt: '2026-11-22T00:00:00.000Z',
  createdBy: 'agent:bee',
};
const item = '- Look first.\n  Then leap.\n  Next time: Read the log';

describe('lesson of a reflection', () => {
  it('begins the lessons of a task that has none', () => {
    expect(withLesson({}, reflection)).toEqual({
      lessonsLearned: item,
      lessonTags: ['care', 'logs'],
      lessonSources: [reflection.id],
    });
  });

  it('is put after the lessons there are, and repeats no tag', () => {
    const before = { lessonsLearned: 'By hand\n', lessonTags: ['logs', 'own'], lessonSources: ['other'] };
    expect(withLesson(before, reflection)).toEqual({
      lessonsLearned: `By hand\n${item}`,
      lessonTags: ['logs', 'own', 'care'],
      lessonSources: ['other', reflection.id],
    });
  });

  it('changes nothing when the task has it, whatever people made of the text since', () => {
    expect(withLesson({ lessonsLearned: 'Rewritten', lessonSources: [reflection.id] }, reflection)).toEqual({});
  });

  it('is refused where there is no room', () => {
    expect(() => withLesson({ lessonsLearned: 'x'.repeat(100_000) }, reflection)).toThrow('are at their limit');
  });
});

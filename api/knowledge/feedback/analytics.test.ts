import type { Feedback } from '../../../contracts/knowledge/feedback';
import { analyse } from './analytics';

const one = (fields: Partial<Feedback>): Feedback => ({
  id: 'feedback_0123456789ab',
  content: 'Good',
  sentiment: 'positive',
  resolved: false,
  createdAt: '2026-11-20T10:00:00.000Z',
  createdBy: 'user:ada',
  ...fields,
});

describe('feedback analytics', () => {
  it('is empty without feedback', () => {
    expect(analyse([])).toEqual({
      total: 0,
      sentimentBreakdown: { positive: 0, neutral: 0, negative: 0 },
      topCategories: [],
      trend: [],
      averageRating: null,
      unresolvedCount: 0,
    });
  });

  it('counts by sentiment, day and category', () => {
    const next = '2026-11-21T00:00:00.000Z';
    const analytics = analyse([
      one({ createdAt: next, sentiment: 'negative', rating: 1, categories: ['speed', 'speed'] }),
      one({ categories: ['quality', 'speed'], rating: 4, resolved: true }),
      one({ sentiment: 'neutral' }),
    ]);
    expect(analytics).toEqual({
      total: 3,
      sentimentBreakdown: { positive: 1, neutral: 1, negative: 1 },
      topCategories: [
        { category: 'speed', count: 2 },
        { category: 'quality', count: 1 },
      ],
      trend: [
        { date: '2026-11-20', positive: 1, neutral: 1, negative: 0 },
        { date: '2026-11-21', positive: 0, neutral: 0, negative: 1 },
      ],
      averageRating: 2.5,
      unresolvedCount: 2,
    });
  });

  it('names the ten most frequent categories', () => {
    const many = Array.from({ length: 12 }, (_, number) => one({ categories: [`c${number}`, 'all'] }));
    const { topCategories } = analyse(many);
    expect(topCategories).toHaveLength(10);
    expect(topCategories[0]).toEqual({ category: 'all', count: 12 });
  });
});

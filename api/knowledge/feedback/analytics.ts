import type { Feedback, FeedbackAnalytics, Sentiment } from '../../../contracts/knowledge/feedback';

type PerSentiment = Record<Sentiment, number>;

const noneYet = (): PerSentiment => ({ positive: 0, neutral: 0, negative: 0 });

/** How many categories are named. */
const topCategories = 10;

/** The summary of some feedback (specification 1, `GET /api/feedback/analytics`). */
export function analyse(feedback: readonly Feedback[]): FeedbackAnalytics {
  const sentimentBreakdown = noneYet();
  const byDay = new Map<string, PerSentiment>();
  const byCategory = new Map<string, number>();
  for (const { sentiment, createdAt, categories = [] } of feedback) {
    sentimentBreakdown[sentiment] += 1;
    const date = createdAt.slice(0, 10);
    const day = byDay.get(date) ?? noneYet();
    day[sentiment] += 1;
    byDay.set(date, day);
    for (const category of new Set(categories)) {
      byCategory.set(category, (byCategory.get(category) ?? 0) + 1);
    }
  }
  const ratings = feedback.flatMap(({ rating }) => rating ?? []);
  return {
    total: feedback.length,
    sentimentBreakdown,
    topCategories: [...byCategory]
      .map(([category, count]) => ({ category, count }))
      .sort((a, b) => b.count - a.count || a.category.localeCompare(b.category))
      .slice(0, topCategories),
    trend: [...byDay].map(([date, day]) => ({ date, ...day })).sort((a, b) => a.date.localeCompare(b.date)),
    averageRating: ratings.length === 0 ? null : ratings.reduce((sum, rating) => sum + rating, 0) / ratings.length,
    unresolvedCount: feedback.filter(({ resolved }) => !resolved).length,
  };
}

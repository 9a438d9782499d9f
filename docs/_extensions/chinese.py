"""Search on the Chinese pages without a dictionary: every pair of neighbouring characters is a word, and so is every single
one; names and English words are found as on the other pages.
"""

import re

from sphinx.search.en import SearchEnglish

RUN = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")


class SearchPairs(SearchEnglish):
    lang = "zh"
    js_splitter_code = r"""
function splitQuery(query) {
  const words = [];
  for (const [run] of query.matchAll(/[\u3400-\u9fff]+|[^\W_]\w*|_\w+/gu)) {
    if (run.length < 2 || !/[\u3400-\u9fff]/u.test(run)) words.push(run);
    else for (let i = 0; i + 1 < run.length; i++) words.push(run.slice(i, i + 2));
  }
  return words;
}
"""

    def split(self, input: str) -> list[str]:
        words = []
        for run in RUN.findall(input):
            if re.match("[\u3400-\u9fff]", run):
                words += [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
            else:
                words.append(run)
        return words


def setup(app):
    app.add_search_language(SearchPairs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

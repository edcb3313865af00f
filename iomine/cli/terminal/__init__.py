"""What commands share: words to people, answers in their formats, the prompt, and how failures end."""

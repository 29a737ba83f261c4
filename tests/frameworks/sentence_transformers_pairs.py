"""sentence-transformers: its Trainer on pairs of texts, with a model made here."""

import pathlib
import tempfile
import time

import datasets
import sentence_transformers
from sentence_transformers import losses, models
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

WORDS = [f"word{number}" for number in range(200)]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def save_model(folder):
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    fast.save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(folder)


class Slow(losses.CosineSimilarityLoss):
    def forward(self, *words, **named):
        time.sleep(0.005)  # slow
        return super().forward(*words, **named)


with tempfile.TemporaryDirectory() as folder:
    save_model(folder)
    word = models.Transformer(folder, max_seq_length=16)
    model = sentence_transformers.SentenceTransformer(modules=[word, models.Pooling(32)], device="cpu")
    texts = [" ".join(WORDS[(number * step) % 200] for step in range(1, 9)) for number in range(480)]
    rows = datasets.Dataset.from_dict(
        {"one": texts, "other": texts[::-1], "score": [number % 2 * 1.0 for number in range(480)]}
    )
    arguments = sentence_transformers.SentenceTransformerTrainingArguments(
        output_dir=str(pathlib.Path(folder, "out")),
        num_train_epochs=2,
        per_device_train_batch_size=16,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    trainer = sentence_transformers.SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=rows, loss=Slow(model)
    )
    trainer.train()
print("truth steps=60 optimizer=AdamW loader=yes evaluations=0")
